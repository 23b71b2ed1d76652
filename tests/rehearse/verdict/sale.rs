//! Stock, keys, holds, limits, tokens, answers.

use std::collections::BTreeMap;

use super::super::record::{Promised, Purchase, Record};
use super::Check;

fn purchases(record: &Record) -> impl Iterator<Item = &Purchase> {
    record.lives.iter().flat_map(|life| &life.purchases)
}

/// Whether places of a purchase are sold: it is confirmed, or was bought as another.
fn is_sold(purchase: &Purchase) -> bool {
    purchase.state == "confirmed" || purchase.bought_as.is_some()
}

fn places(record: &Record, counts: impl Fn(&Purchase) -> bool) -> i64 {
    let quantities = purchases(record).filter(|one| counts(one)).map(|one| one.quantity);
    i64::try_from(quantities.sum::<u64>()).unwrap_or(i64::MAX)
}

pub(super) fn stock(promised: &Promised, record: &Record) -> Check {
    let looks = record.reconciled.iter().chain(&record.at_the_end);
    let sectors: Vec<[i64; 4]> = looks.flat_map(|look| look.sectors.clone()).collect();
    let is_wrong = |[capacity, available, held, confirmed]: &&[i64; 4]| {
        [available, held, confirmed].iter().any(|count| **count < 0)
            || available + held + confirmed != *capacity
    };
    let wrong = sectors.iter().filter(is_wrong).count() as u64;
    let public: Vec<i64> = record.samples.iter().filter_map(|sample| sample.available).collect();
    let outside =
        public.iter().filter(|left| !(0..=promised.places).contains(*left)).count() as u64;
    let sold =
        record.at_the_end.as_ref().map_or(0, |end| end.sectors.iter().map(|one| one[3]).sum());
    let seen = format!(
        "{} looks at sectors, {wrong} do not add up; {} looks at what the public is shown, {outside} out of bounds; \
         {sold} of {} places sold at the end",
        sectors.len(),
        public.len(),
        promised.places
    );
    let tried = (sectors.len() + public.len()) as u64;
    Check::new(
        "1",
        "Available, held and confirmed are never negative and add up",
        tried,
        wrong + outside,
        seen,
    )
}

pub(super) fn rows(promised: &Promised, record: &Record) -> Check {
    let looks: Vec<_> = record.reconciled.iter().chain(&record.at_the_end).collect();
    let wrong = looks.iter().filter(|look| !look.consistent).count() as u64;
    let unknown: u32 = record.lives.iter().map(|life| life.unknown_orders).sum();
    let ours = places(record, is_sold);
    let mut seen = format!("{} times compared, {wrong} times different", looks.len());
    let mut against = 0;
    let end = record.at_the_end.as_ref().filter(|_| promised.own_event);
    if let Some(end) = end {
        let theirs: i64 = end.sectors.iter().map(|sector| sector[3]).sum();
        seen.push_str(&format!(
            "; {theirs} places sold by the counters, {ours} by what buyers have"
        ));
        if unknown > 0 {
            seen.push_str(&format!(" (of {unknown} orders nobody knows what became of them)"));
        } else {
            against = theirs.abs_diff(ours);
        }
    }
    Check::new("2", "Counters and reservations agree", looks.len() as u64, wrong + against, seen)
}

pub(super) fn keys(record: &Record) -> Check {
    let (mut compared, mut differing, mut cut) = (0, 0, 0);
    for life in &record.lives {
        compared += life.sale_twice.compared;
        differing += life.sale_twice.differing;
        cut += life.sale_twice.cut;
    }
    let mut ids: Vec<&str> = purchases(record).map(|one| one.id.as_str()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    let shared = (all - ids.len()) as u64;
    let mut seen = format!(
        "{compared} orders and payments sent twice with one key ({cut} of all were cut off in the middle): \
         {differing} with another outcome; {shared} reservations given to two"
    );
    if let Some(first) = record.lives.iter().find_map(|life| life.differences.first()) {
        seen.push_str(&format!(" ({first})"));
    }
    Check::new("3", "One key, one outcome", compared, differing + shared, seen)
}

pub(super) fn kept(record: &Record) -> Check {
    let all = purchases(record).count() as u64;
    let lost = purchases(record).filter(|one| !one.found).count() as u64;
    let seen =
        format!("{all} acknowledged, {lost} not found again at the end; no process was killed");
    Check::new("4", "What was acknowledged is there", all, lost, seen)
}

pub(super) fn holds_end_once(record: &Record) -> Check {
    let back: u64 = record.lives.iter().map(|life| u64::from(life.went_back)).sum();
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    for purchase in purchases(record) {
        *states.entry(&purchase.state).or_default() += 1;
    }
    let ended = states.iter().filter(|(state, _)| **state != "held").map(|(_, count)| count).sum();
    let list: Vec<String> =
        states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let seen = format!("{}; {back} changed again after their end", list.join(", "));
    Check::new("5", "A hold ends exactly once", ended, back, seen)
}

pub(super) fn limit(promised: &Promised, record: &Record) -> Check {
    let kept = |one: &&Purchase| one.state == "held" || is_sold(one);
    let has = |life: &super::super::record::Life| -> u64 {
        life.purchases.iter().filter(kept).map(|one| one.quantity).sum()
    };
    let most = record.lives.iter().map(has).max().unwrap_or(0);
    let over = record.lives.iter().filter(|life| has(life) > promised.max_per_user).count() as u64;
    let refused: u64 = record.lives.iter().map(|life| u64::from(life.limit_refused)).sum();
    let seen = format!(
        "{refused} attempts at more were refused; one person has {most} at most, {} allowed",
        promised.max_per_user
    );
    Check::new("6", "Nobody has more than one person may", refused + over, over, seen)
}

pub(super) fn forged(record: &Record) -> Check {
    let sent = record.lives.iter().map(|life| life.forged_sent).sum();
    let taken: Vec<&String> = record.lives.iter().flat_map(|life| &life.forged_taken).collect();
    let mut seen =
        format!("{sent} attempts without a token or with a forged one, {} taken", taken.len());
    if let Some(first) = taken.first() {
        seen.push_str(&format!(": {first}"));
    }
    Check::new(
        "10",
        "Nobody gets anything without a valid admission",
        sent,
        taken.len() as u64,
        seen,
    )
}

/// Codes of a 503 that says what to do.
const EXPECTED: [&str; 3] = ["unavailable", "draining", "queue_full"];

pub(super) fn answers(record: &Record) -> Check {
    let sum = |of: &dyn Fn(u16, &str) -> bool| -> u64 {
        let all = record.answers.iter().filter(|(answer, _)| of(answer.status, &answer.code));
        all.map(|(_, count)| count).sum()
    };
    let all = sum(&|_, _| true);
    let failed = sum(&|status, code| status >= 500 && !(status == 503 && EXPECTED.contains(&code)));
    let busy = sum(&|status, code| status == 503 && EXPECTED.contains(&code));
    let none = sum(&|status, _| status == 0);
    let seen = format!(
        "of {all} requests {failed} were answered with an error of the service, {busy} with a 503 that says to \
         come again; {none} had no answer in time"
    );
    Check::new("answers", "No unexpected 5xx", all, failed, seen)
}
