//! Payments against reservations.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::record::{Entry, Purchase, Record};
use super::Check;

const WHAT: &str = "Each payment is charged at most once, and ends in a reservation or a refund";

pub(super) fn charges(record: &Record) -> Check {
    match &record.ledger {
        Some(ledger) => by_the_ledger(record, ledger),
        None => by_the_checkout(record),
    }
}

/// The provider's own ledger beside what buyers have.
fn by_the_ledger(record: &Record, ledger: &[Entry]) -> Check {
    let done = |is_charge: bool| {
        ledger.iter().filter(move |entry| entry.is_charge == is_charge && entry.succeeded)
    };
    let mut by_payment: BTreeMap<&str, u64> = BTreeMap::new();
    for charge in done(true) {
        *by_payment.entry(&charge.payment).or_default() += 1;
    }
    let twice = by_payment.values().filter(|count| **count > 1).count() as u64;
    let refunded: HashMap<&str, i64> =
        done(false).map(|refund| (refund.charge_key.as_str(), refund.amount)).collect();
    let purchases: Vec<&Purchase> = record.lives.iter().flat_map(|life| &life.purchases).collect();
    let by_id: HashMap<&str, &Purchase> =
        purchases.iter().map(|one| (one.id.as_str(), *one)).collect();
    // Money for something or back; never both, never neither.
    let is_wrong = |charge: &&Entry| {
        let bought = by_id.get(charge.reservation.as_str()).is_some_and(|one| {
            (one.state == "confirmed" || one.bought_as.is_some()) && one.total == charge.amount
        });
        let back = refunded.get(charge.key.as_str()) == Some(&charge.amount);
        bought == back
    };
    let wrong = done(true).filter(is_wrong).count() as u64;
    let paid: HashSet<&str> = done(true).map(|charge| charge.reservation.as_str()).collect();
    let unpaid =
        purchases.iter().filter(|one| one.state == "confirmed" && !paid.contains(one.id.as_str()));
    let unpaid = unpaid.count() as u64;
    let (charges, refunds) = (done(true).count(), done(false).count());
    let seen = format!(
        "{charges} charges and {refunds} refunds in the provider's ledger: {twice} payments charged twice, {wrong} \
         charges for nothing, {unpaid} reservations confirmed without a charge"
    );
    Check::new("7", WHAT, charges as u64, twice + wrong + unpaid, seen)
}

/// Without the ledger, by the checkout's word.
fn by_the_checkout(record: &Record) -> Check {
    let purchases = record.lives.iter().flat_map(|life| &life.purchases);
    let told: Vec<&Purchase> = purchases.filter(|one| one.payment.is_some()).collect();
    let is_wrong = |one: &&&Purchase| {
        let paid = one.payment.as_deref() == Some("paid");
        paid != (one.state == "confirmed")
    };
    let wrong = told.iter().filter(is_wrong).count() as u64;
    let seen = format!(
        "{} payments by the checkout's own word, {wrong} do not fit their reservation; no provider's ledger to \
         compare with",
        told.len()
    );
    Check::new("7", WHAT, told.len() as u64, wrong, seen)
}
