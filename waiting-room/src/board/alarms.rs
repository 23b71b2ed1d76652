//! What an operator must see at once: every invariant and target that can be judged from here. Pure.

use serde::Serialize;
use utoipa::ToSchema;

use super::minute::Shortfall;
use super::sale::{SaleBody, SaleState};
use crate::queue::QUEUE_DELAY_MS_MAX;

/// Sweepers look once a second: a hold that is overdue for longer has been left.
const OVERDUE_SECONDS_MAX: u64 = 10;
/// Money whose fate has not been known for so long.
const UNSETTLED_SECONDS_MAX: u64 = 300;
/// Of what the rate allows, so much is used while enough people wait.
const ADMITTED_PERCENT_MIN: u64 = 97;
/// A window of the last minute may miss a token at each end.
const EDGE_TOKENS: u64 = 2;

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Alarm {
    /// Its stable name.
    #[schema(example = "over_cap")]
    pub code: &'static str,
    /// What is wrong, with the numbers.
    #[schema(example = "12 sessions are active, and the cap is 10.")]
    pub message: String,
}

/// What is judged.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The store has not answered for a second.
    pub stale: bool,
    /// Neither rate nor cap are meant to hold.
    pub is_passthrough: bool,
    /// Sessions at the moment.
    pub active: u64,
    /// The most there may be.
    pub cap: u64,
    /// Tokens of the last minute.
    pub admitted: u64,
    /// The highest rate in it.
    pub rate_max: u64,
    /// Tokens while enough people wait, if they do.
    pub while_enough_wait: Option<Shortfall>,
    /// The longest queue delay that a checkout has told of, in milliseconds.
    pub queue_delay_ms: u64,
    /// The sale behind the room.
    pub sale: &'a SaleBody,
}

/// All that is wrong, the worst first.
pub fn alarms(facts: Facts<'_>) -> Vec<Alarm> {
    let mut found = Vec::new();
    let mut add = |code, message: String| found.push(Alarm { code, message });
    if facts.stale {
        let text = "Redis does not answer: nobody joins and nobody is let in. What is shown was known before.";
        add("store_stale", text.to_owned());
    }
    stock(facts.sale, &mut add);
    if !facts.is_passthrough {
        let Facts { active, cap, admitted, rate_max, .. } = facts;
        if active > cap {
            add("over_cap", format!("{active} sessions are active, and the cap is {cap}."));
        }
        if admitted > rate_max {
            let text = format!(
                "{admitted} tokens were issued in the last minute, at a rate of {rate_max}."
            );
            add("over_rate", text);
        }
    }
    if let Some(Shortfall { expected, admitted }) = facts.while_enough_wait
        && (admitted + EDGE_TOKENS) * 100 < expected * ADMITTED_PERCENT_MIN
    {
        let text = format!(
            "{admitted} tokens were issued in the last minute, where the rate allows {expected} and enough people wait."
        );
        add("under_rate", text);
    }
    let delay = facts.queue_delay_ms.max(facts.sale.queue_delay_ms.unwrap_or_default());
    if delay > QUEUE_DELAY_MS_MAX {
        let text = format!(
            "Orders wait {delay} ms in the checkout's line; the target is {QUEUE_DELAY_MS_MAX} ms."
        );
        add("queue_delay", text);
    }
    neglected(facts.sale, &mut add);
    silence(facts.sale, &mut add);
    found
}

fn stock(sale: &SaleBody, add: &mut impl FnMut(&'static str, String)) {
    for sector in &sale.sectors {
        let counts = [sector.available, sector.held, sector.confirmed];
        let sum: i64 = counts.iter().sum();
        if sum != sector.capacity || counts.iter().any(|count| *count < 0) {
            let (name, [available, held, confirmed]) = (&sector.name, counts);
            let text = format!(
                "{name}: {available} available, {held} held and {confirmed} confirmed are not its {} places.",
                sector.capacity
            );
            add("stock_broken", text);
        }
    }
}

fn neglected(sale: &SaleBody, add: &mut impl FnMut(&'static str, String)) {
    if let Some(overdue) = sale.holds_overdue
        && overdue.count > 0
        && overdue.oldest_seconds > OVERDUE_SECONDS_MAX
    {
        let text = format!(
            "{} holds are overdue and not ended, the first for {} s.",
            overdue.count, overdue.oldest_seconds
        );
        add("holds_overdue", text);
    }
    for payments in &sale.payments_unsettled {
        let (kind, state, count) = (&payments.kind, &payments.state, payments.count);
        if kind == "refund" && state == "failed" {
            add("refund_refused", format!("{count} refunds were refused by the provider."));
        } else if payments.oldest_seconds > UNSETTLED_SECONDS_MAX {
            let minutes = payments.oldest_seconds / 60;
            let text =
                format!("{count} operations ({kind}) are {state}, one for {minutes} minutes.");
            add("payments_unsettled", text);
        }
    }
}

fn silence(sale: &SaleBody, add: &mut impl FnMut(&'static str, String)) {
    let (answering, configured) = (sale.answering, sale.checkouts);
    let partly = matches!(sale.state, SaleState::Told | SaleState::UnknownEvent);
    if sale.state == SaleState::Silent {
        let text = "No checkout answers this node: the sale's figures are not known.";
        add("checkout_silent", text.to_owned());
    } else if partly && answering < configured {
        let text = format!(
            "{answering} of {configured} checkouts answer this node: the sale's figures are not all."
        );
        add("checkout_silent", text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sale::{Overdue, Sector, Unsettled};
    use super::*;

    fn codes(change: impl FnOnce(&mut SaleBody, &mut Facts<'_>)) -> Vec<&'static str> {
        let nothing = SaleBody::default();
        let mut facts = Facts {
            stale: false,
            is_passthrough: false,
            active: 10,
            cap: 10,
            admitted: 60,
            rate_max: 60,
            while_enough_wait: Some(Shortfall { expected: 60, admitted: 57 }),
            queue_delay_ms: 250,
            sale: &nothing,
        };
        let mut sale = SaleBody {
            state: SaleState::Told,
            checkouts: 2,
            answering: 2,
            queue_delay_ms: Some(250),
            holds_overdue: Some(Overdue { count: 5, oldest_seconds: 10 }),
            ..SaleBody::default()
        };
        sale.sectors.push(Sector {
            sector_id: uuid::Uuid::nil(),
            name: "Stalls".to_owned(),
            capacity: 10,
            available: 4,
            held: 3,
            confirmed: 3,
        });
        let (state, count, oldest_seconds) = ("unknown".to_owned(), 3, 300);
        let kind = "charge".to_owned();
        sale.payments_unsettled.push(Unsettled { kind, state, count, oldest_seconds });
        change(&mut sale, &mut facts);
        alarms(Facts { sale: &sale, ..facts }).into_iter().map(|alarm| alarm.code).collect()
    }

    #[test]
    fn at_its_bounds_all_is_well() {
        assert_eq!(codes(|_, _| {}), [""; 0]);
    }

    #[test]
    fn what_passes_a_bound_of_the_room_is_an_alarm() {
        assert_eq!(codes(|_, facts| facts.stale = true), ["store_stale"]);
        assert_eq!(codes(|_, facts| facts.active = 11), ["over_cap"]);
        assert_eq!(codes(|_, facts| facts.admitted = 61), ["over_rate"]);
        assert_eq!(codes(|_, facts| facts.queue_delay_ms = 251), ["queue_delay"]);
        let short = Some(Shortfall { expected: 60, admitted: 56 });
        assert_eq!(codes(|_, facts| facts.while_enough_wait = short), ["under_rate"]);
        // A room that is off lets everybody through.
        let off = codes(|_, facts| {
            (facts.active, facts.admitted, facts.is_passthrough) = (1_000, 1_000, true);
        });
        assert_eq!(off, [""; 0]);
    }

    #[test]
    fn what_passes_a_bound_of_the_sale_is_an_alarm() {
        assert_eq!(codes(|sale, _| sale.sectors[0].held = 4), ["stock_broken"]);
        let negative = codes(|sale, _| {
            (sale.sectors[0].available, sale.sectors[0].held) = (-1, 8);
        });
        assert_eq!(negative, ["stock_broken"]);
        assert_eq!(codes(|sale, _| sale.queue_delay_ms = Some(251)), ["queue_delay"]);
        let overdue = Some(Overdue { count: 1, oldest_seconds: 11 });
        assert_eq!(codes(|sale, _| sale.holds_overdue = overdue), ["holds_overdue"]);
        let old = codes(|sale, _| sale.payments_unsettled[0].oldest_seconds = 301);
        assert_eq!(old, ["payments_unsettled"]);
        let refused = codes(|sale, _| {
            let payments = &mut sale.payments_unsettled[0];
            (payments.kind, payments.state) = ("refund".to_owned(), "failed".to_owned());
        });
        assert_eq!(refused, ["refund_refused"]);
    }

    #[test]
    fn a_checkout_that_does_not_answer_is_an_alarm_and_one_that_is_not_there_is_none() {
        assert_eq!(codes(|sale, _| sale.answering = 1), ["checkout_silent"]);
        assert_eq!(codes(|sale, _| sale.state = SaleState::Silent), ["checkout_silent"]);
        for state in [SaleState::NotConfigured, SaleState::Asking] {
            let none =
                codes(|sale, _| (sale.state, sale.checkouts, sale.answering) = (state, 0, 0));
            assert_eq!(none, [""; 0]);
        }
    }
}
