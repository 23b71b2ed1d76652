use serde_json::json;

use super::*;

fn told(instance: u128, created: u64, sold_out: u64) -> Heard {
    let told = json!({
        "instance": Uuid::from_u128(instance),
        "sectors": [{
            "sector_id": Uuid::nil(), "name": "Stalls", "price": 1, "capacity": 10, "available": 4,
            "held": 3, "confirmed": 3,
        }],
        "holds_overdue": {"count": 2, "oldest_seconds": 1},
        "payments_unsettled": [],
        "queue_delay_ms": created,
        "reservations": {"reserve": {"created": created, "sold_out": sold_out, "replayed": 5}},
        "payments": {"paid": 1},
    });
    Heard::Told(Box::new(serde_json::from_value(told).expect("figures")))
}

#[test]
fn counts_are_summed_over_checkouts_and_what_is_in_the_database_is_not() {
    let mut sale = Sale::default();
    sale.hear(&[told(1, 10, 2), told(2, 20, 3)], 0);
    let body = sale.body(500);
    assert_eq!((body.state, body.checkouts, body.answering), (SaleState::Told, 2, 2));
    assert_eq!(body.age_ms, Some(500));
    assert_eq!(body.sectors[0].available, 4);
    assert_eq!(body.holds_overdue.map(|overdue| overdue.count), Some(2));
    assert_eq!(body.queue_delay_ms, Some(20));
    assert_eq!(body.reserve_outcomes["created"], 30);
    assert_eq!(body.payment_outcomes["paid"], 2);
}

#[test]
fn speed_and_refusals_are_those_of_the_last_moments() {
    let mut sale = Sale::default();
    sale.hear(&[told(1, 100, 50)], 0);
    assert_eq!(sale.body(0).reservations_per_second, None);
    assert!(sale.body(0).refusals_in_60s.is_empty(), "what was counted before is no news");
    for second in 1..=30_u64 {
        sale.hear(&[told(1, 100 + second * 7, 50 + second)], second * 2_000);
    }
    let body = sale.body(60_000);
    assert_eq!(body.reservations_per_second, Some(3.5));
    assert_eq!(body.refusals_in_60s, Counts::from([("sold_out".to_owned(), 30)]));
}

#[test]
fn a_checkout_that_was_started_anew_counts_on() {
    let mut sale = Sale::default();
    sale.hear(&[told(1, 100, 0)], 0);
    sale.hear(&[told(2, 3, 0)], 2_000);
    let body = sale.body(2_000);
    assert_eq!(body.reserve_outcomes["created"], 103);
    assert_eq!(body.reservations_per_second, Some(0.0));
    // Behind one address, two may answer in turn.
    sale.hear(&[told(1, 101, 0)], 4_000);
    sale.hear(&[told(2, 5, 0)], 6_000);
    assert_eq!(sale.body(6_000).reserve_outcomes["created"], 106);
}

#[test]
fn who_does_not_answer_is_counted_and_the_figures_stay_and_grow_old() {
    let mut sale = Sale::default();
    assert_eq!(sale.body(0).state, SaleState::NotConfigured);
    sale.is_asking();
    assert_eq!(sale.body(0).state, SaleState::Asking);
    sale.hear(&[Heard::Nothing, told(1, 10, 0)], 0);
    assert_eq!((sale.body(0).state, sale.body(0).answering), (SaleState::Told, 1));
    sale.hear(&[Heard::Nothing, Heard::Nothing], 4_000);
    let body = sale.body(4_000);
    assert_eq!((body.state, body.answering, body.age_ms), (SaleState::Silent, 0, Some(4_000)));
    assert_eq!(body.sectors.len(), 1);
    sale.hear(&[Heard::NoEvent], 6_000);
    assert_eq!(sale.body(6_000).state, SaleState::UnknownEvent);
}
