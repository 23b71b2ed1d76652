//! Rate, cap, and one token for one person.

use super::super::record::{Promised, Record};
use super::Check;

const MINUTE_MS: u64 = 60_000;

/// The most tokens in any 60 seconds.
pub(crate) fn busiest_minute(record: &Record) -> u64 {
    most_in_a_minute(record).max(most_counted_in_a_minute(record))
}

/// By the tokens themselves: 60 neighbouring seconds of `iat` are a minute that begins on a second.
fn most_in_a_minute(record: &Record) -> u64 {
    let mut issued: Vec<u64> =
        record.lives.iter().filter_map(|life| Some(life.admitted.as_ref()?.iat)).collect();
    issued.sort_unstable();
    let (mut first, mut most) = (0, 0);
    for last in 0..issued.len() {
        while issued[first] + 60 <= issued[last] {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most as u64
}

/// By the room's own count, at two moments no more than a minute apart.
fn most_counted_in_a_minute(record: &Record) -> u64 {
    let samples = &record.samples;
    let (mut first, mut most) = (0, 0);
    for last in samples {
        while samples[first].store_ms + MINUTE_MS < last.store_ms {
            first += 1;
        }
        most = most.max(last.tokens_total.saturating_sub(samples[first].tokens_total));
    }
    most
}

pub(super) fn rate(promised: &Promised, record: &Record) -> Check {
    let by_tokens = most_in_a_minute(record);
    let by_count = most_counted_in_a_minute(record);
    let most = by_tokens.max(by_count);
    let rate = promised.rate_per_minute;
    let seen = format!(
        "at most {by_tokens} tokens in any 60 s by their own times, {by_count} by the room's count; \
         {rate} allowed"
    );
    Check::new(
        "8",
        "No more tokens in any 60 seconds than the rate",
        most,
        most.saturating_sub(rate),
        seen,
    )
}

/// The most sessions that had surely begun and not ended at one moment.
fn most_at_once(record: &Record) -> u64 {
    let mut changes = Vec::new();
    for admitted in record.lives.iter().filter_map(|life| life.admitted.as_ref()) {
        if admitted.at_ms < admitted.surely_until_ms {
            changes.push((admitted.at_ms, 1i64));
            changes.push((admitted.surely_until_ms, -1));
        }
    }
    // At the same moment an end goes first.
    changes.sort_unstable();
    let (mut now, mut most) = (0i64, 0i64);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most.unsigned_abs()
}

pub(super) fn cap(promised: &Promised, record: &Record) -> Check {
    let told = record.samples.iter().map(|sample| sample.active).max().unwrap_or(0);
    let by_people = most_at_once(record);
    let (most, cap) = (told.max(by_people), promised.cap);
    let seen = format!(
        "at most {told} sessions at once by the room's count, {by_people} by what people did; {cap} allowed"
    );
    Check::new(
        "8",
        "Never more sessions at once than the cap",
        most,
        most.saturating_sub(cap),
        seen,
    )
}

pub(super) fn one_token(record: &Record) -> Check {
    let (mut compared, mut wrong, mut cut, mut foreign) = (0, 0, 0, 0u64);
    for life in &record.lives {
        compared += life.claim_twice.compared;
        wrong += life.claim_twice.differing;
        cut += life.claim_twice.cut;
        foreign += u64::from(life.wrong_tokens);
    }
    let mut names: Vec<&str> =
        record.lives.iter().filter_map(|life| Some(life.admitted.as_ref()?.jti.as_str())).collect();
    let tokens = names.len();
    names.sort_unstable();
    names.dedup();
    let shared = (tokens - names.len()) as u64;
    let seen = format!(
        "{compared} double claims compared, {cut} cut off and sent again: {wrong} with another token; of {tokens} \
         tokens {shared} name an admission that another has, {foreign} another person or event"
    );
    Check::new(
        "8",
        "One person, one token",
        compared + tokens as u64,
        wrong + shared + foreign,
        seen,
    )
}
