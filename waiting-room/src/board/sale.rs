//! The sale behind a room, put together from what each checkout says of it: pure.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// Runs of checkouts whose counts are remembered, so that they go on where they were.
const INSTANCES_MAX: usize = 64;
/// How far back refusals are counted, and
const MINUTE_MS: u64 = 60_000;
/// how far back reservations, for their speed.
const SPEED_MS: u64 = 10_000;
/// What a request to reserve comes to when it is not refused.
const NOT_REFUSED: [&str; 4] = ["created", "done", "replayed", "pending"];

type Counts = BTreeMap<String, u64>;

/// What is known of the sale.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SaleState {
    /// This node was not told of any checkout.
    #[default]
    NotConfigured,
    /// None has been asked yet.
    Asking,
    /// None answers; the figures are the last that were heard, if any.
    Silent,
    /// None sells this event.
    UnknownEvent,
    /// As the checkouts say.
    Told,
}

/// A sector's places.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = SectorPlaces)]
pub struct Sector {
    /// Its name for programs.
    pub sector_id: Uuid,
    /// Its name for people.
    pub name: String,
    /// All places.
    pub capacity: i64,
    /// Places left.
    pub available: i64,
    /// Places kept for somebody.
    pub held: i64,
    /// Places sold.
    pub confirmed: i64,
}

/// Holds whose time has passed and that are not ended yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = OverdueHolds)]
pub struct Overdue {
    /// How many; counts to 10,000.
    pub count: u64,
    /// For how long the first of them has been, in seconds.
    pub oldest_seconds: u64,
}

/// Payment operations that are not done, of one kind and state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = UnsettledPayments)]
pub struct Unsettled {
    /// `charge` or `refund`.
    pub kind: String,
    /// `created`, `submitted`, `unknown`, `failed`.
    pub state: String,
    /// How many.
    pub count: u64,
    /// How long the oldest of them has been there, in seconds.
    pub oldest_seconds: u64,
}

/// What one checkout says of one event.
#[derive(Debug, Clone, Deserialize)]
pub struct Told {
    instance: Uuid,
    sectors: Vec<Sector>,
    holds_overdue: Overdue,
    payments_unsettled: Vec<Unsettled>,
    queue_delay_ms: u64,
    reservations: BTreeMap<String, Counts>,
    payments: Counts,
}

/// What came of asking one checkout.
#[derive(Debug, Clone)]
pub enum Heard {
    /// Its figures.
    Told(Box<Told>),
    /// It does not sell this event.
    NoEvent,
    /// There was no answer that can be used.
    Nothing,
}

/// The sale's figures, over all checkouts.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[schema(as = Sale)]
pub struct SaleBody {
    /// What is known of it.
    pub state: SaleState,
    /// Checkouts that this node asks,
    pub checkouts: usize,
    /// and those of them that answered last.
    pub answering: usize,
    /// How old the figures are, in milliseconds; `null` when there are none.
    #[schema(required = true)]
    pub age_ms: Option<u64>,
    /// Ascending by id.
    pub sectors: Vec<Sector>,
    /// Holds whose time has passed; `null` when no checkout has said so.
    #[schema(required = true)]
    pub holds_overdue: Option<Overdue>,
    /// Payment operations that are not done.
    pub payments_unsettled: Vec<Unsettled>,
    /// The longest wait for a sector's turn at any checkout, in milliseconds.
    #[schema(required = true)]
    pub queue_delay_ms: Option<u64>,
    /// Holds that were made, per second in the last ten; `null` before that can be said.
    #[schema(required = true)]
    pub reservations_per_second: Option<f64>,
    /// What requests to reserve came to, as counted since the checkouts were started or this node.
    pub reserve_outcomes: Counts,
    /// Refusals of the last minute, by the problem's code.
    pub refusals_in_60s: Counts,
    /// What was heard of payments, counted likewise.
    pub payment_outcomes: Counts,
}

/// The sale behind one room.
#[derive(Debug, Clone, Default)]
pub struct Sale {
    body: SaleBody,
    told_at_ms: Option<u64>,
    /// What each run of a checkout had counted, the one heard last at the end.
    instances: VecDeque<(Uuid, Counts, Counts)>,
    /// What requests to reserve had come to, minute by looks.
    looks: VecDeque<(u64, Counts)>,
}

impl Sale {
    /// Takes in what every checkout has said, at a time in milliseconds that only goes on.
    pub fn hear(&mut self, heard: &[Heard], now_ms: u64) {
        let told: Vec<&Told> = heard
            .iter()
            .filter_map(|heard| match heard {
                Heard::Told(told) => Some(told.as_ref()),
                _ => None,
            })
            .collect();
        let answering = heard.iter().filter(|heard| !matches!(heard, Heard::Nothing)).count();
        (self.body.checkouts, self.body.answering) = (heard.len(), answering);
        self.body.state = match (told.is_empty(), answering) {
            _ if heard.is_empty() => SaleState::NotConfigured,
            (false, _) => SaleState::Told,
            (true, 0) => SaleState::Silent,
            (true, _) => SaleState::UnknownEvent,
        };
        let Some(first) = told.first() else { return };
        // The database is the same behind all of them; counts and lines are each one's own.
        self.body.sectors.clone_from(&first.sectors);
        self.body.holds_overdue = Some(first.holds_overdue);
        self.body.payments_unsettled.clone_from(&first.payments_unsettled);
        self.body.queue_delay_ms = told.iter().map(|told| told.queue_delay_ms).max();
        self.told_at_ms = Some(now_ms);
        for told in told {
            self.count(told);
        }
        self.look(now_ms);
    }

    /// This node asks checkouts, and has not yet.
    pub fn is_asking(&mut self) {
        if self.body.state == SaleState::NotConfigured {
            self.body.state = SaleState::Asking;
        }
    }

    /// The figures as they are now.
    pub fn body(&self, now_ms: u64) -> SaleBody {
        let age_ms = self.told_at_ms.map(|told| now_ms.saturating_sub(told));
        SaleBody { age_ms, ..self.body.clone() }
    }

    /// Adds what this run of a checkout has counted since it was last heard.
    fn count(&mut self, told: &Told) {
        let reserve = told.reservations.get("reserve").cloned().unwrap_or_default();
        let at = self.instances.iter().position(|(instance, ..)| *instance == told.instance);
        let known = at.and_then(|at| self.instances.remove(at));
        let (_, reserve_before, payments_before) = known.unwrap_or_default();
        if at.is_none() {
            // What it had counted before this node heard of it is no news of this minute.
            let before: Vec<_> =
                self.looks.iter().map(|(at, counts)| (*at, sum(counts, &reserve))).collect();
            self.looks = before.into();
        }
        add_growth(&mut self.body.reserve_outcomes, &reserve, &reserve_before);
        add_growth(&mut self.body.payment_outcomes, &told.payments, &payments_before);
        self.instances.push_back((told.instance, reserve, told.payments.clone()));
        if self.instances.len() > INSTANCES_MAX {
            self.instances.pop_front();
        }
    }

    fn look(&mut self, now_ms: u64) {
        let outcomes = &self.body.reserve_outcomes;
        self.looks.push_back((now_ms, outcomes.clone()));
        while self.looks.front().is_some_and(|(at, _)| at + MINUTE_MS < now_ms) {
            self.looks.pop_front();
        }
        let since = |span_ms| self.looks.iter().find(|(at, _)| at + span_ms >= now_ms);
        self.body.reservations_per_second = since(SPEED_MS).and_then(|(at, before)| {
            let seconds = u32::try_from(now_ms - at).ok().filter(|ms| *ms > 0)?;
            let made = u32::try_from(growth(outcomes, before, "created")).ok()?;
            Some(f64::from(made) * 1_000.0 / f64::from(seconds))
        });
        if let Some((_, before)) = since(MINUTE_MS) {
            let refused = outcomes.keys().filter(|code| !NOT_REFUSED.contains(&code.as_str()));
            let counts = refused.map(|code| (code.clone(), growth(outcomes, before, code)));
            self.body.refusals_in_60s = counts.filter(|(_, count)| *count > 0).collect();
        }
    }
}

fn growth(now: &Counts, before: &Counts, name: &str) -> u64 {
    let of = |counts: &Counts| counts.get(name).copied().unwrap_or_default();
    of(now).saturating_sub(of(before))
}

fn add_growth(total: &mut Counts, now: &Counts, before: &Counts) {
    for name in now.keys() {
        *total.entry(name.clone()).or_default() += growth(now, before, name);
    }
}

fn sum(one: &Counts, other: &Counts) -> Counts {
    let mut sum = one.clone();
    add_growth(&mut sum, other, &Counts::new());
    sum
}

#[cfg(test)]
mod tests;
