//! Figures that are no matter of held or broken. Pure.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::record::{Answered, Call, End, Record};
use super::verdict::{busiest_minute, is_always_there, ranks};

/// All of them.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figures {
    /// How everybody's way ended.
    pub(crate) ends: BTreeMap<End, u64>,
    /// In each minute after the opening.
    pub(crate) admitted_per_minute: Vec<u64>,
    /// In any 60 seconds.
    pub(crate) busiest_minute: u64,
    pub(crate) fairness: Option<Fairness>,
    pub(crate) forecast: Option<Forecast>,
    pub(crate) latencies: Vec<Latency>,
    pub(crate) answers: Vec<Count>,
    /// Joins that were refused because too many come from one address.
    pub(crate) joins_refused_by_address: u64,
    /// How late the rehearsal itself was with what was due, in milliseconds.
    pub(crate) own_lateness_ms: Option<Percentiles>,
}

/// How well the order of admission follows the rank, of people who were there all the time.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Fairness {
    /// Kendall's τ-b between rank and the moment of admission, -1 to 1. What people take to react is in it.
    pub(crate) kendall_tau: f64,
    pub(crate) people: u64,
}

/// The wait that people were told first, against what it came to.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Forecast {
    pub(crate) people: u64,
    /// The share whose wait fell into the range, 0 to 1.
    pub(crate) within: f64,
    /// Off the middle of the range, in seconds.
    pub(crate) off_seconds_p50: f64,
    pub(crate) off_seconds_p90: f64,
    pub(crate) off_seconds_p99: f64,
}

/// How long a call took, in milliseconds from when it was due.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Latency {
    pub(crate) call: Call,
    pub(crate) name: &'static str,
    #[serde(flatten)]
    pub(crate) ms: Percentiles,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Percentiles {
    /// After correction: what a slow answer kept from being asked counts too.
    pub(crate) count: u64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    #[serde(rename = "p99_9")]
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Count {
    #[serde(flatten)]
    pub(crate) answer: Answered,
    pub(crate) count: u64,
}

impl Figures {
    pub(crate) fn new(record: &Record) -> Self {
        let mut ends = BTreeMap::new();
        for life in &record.lives {
            *ends.entry(life.end).or_default() += 1;
        }
        let latencies = record.latencies.iter().map(|(call, histogram)| Latency {
            call: *call,
            name: call.name(),
            ms: percentiles(histogram),
        });
        let answers = record
            .answers
            .iter()
            .map(|(answer, count)| Count { answer: answer.clone(), count: *count });
        let refused = record.answers.iter().filter(|(answer, _)| {
            answer.call == Call::Join && answer.status == 429 && answer.code == "rate_limited"
        });
        Self {
            ends,
            admitted_per_minute: per_minute(record),
            busiest_minute: busiest_minute(record),
            fairness: fairness(record),
            forecast: forecast(record),
            latencies: latencies.collect(),
            answers: answers.collect(),
            joins_refused_by_address: refused.map(|(_, count)| count).sum(),
            own_lateness_ms: record
                .lateness
                .as_ref()
                .filter(|all| !all.is_empty())
                .map(percentiles),
        }
    }
}

fn per_minute(record: &Record) -> Vec<u64> {
    let mut minutes = Vec::new();
    for admitted in record.lives.iter().filter_map(|life| life.admitted.as_ref()) {
        let minute = admitted.at_ms.saturating_sub(record.opened_ms) / 60_000;
        let minute = usize::try_from(minute).unwrap_or_default();
        minutes.resize(minutes.len().max(minute + 1), 0);
        minutes[minute] += 1;
    }
    minutes
}

/// By the crate's merge sort, in n log n.
pub(crate) fn fairness(record: &Record) -> Option<Fairness> {
    let pairs = record.lives.iter().zip(ranks(record)).filter_map(|(life, rank)| {
        let admitted = life.admitted.as_ref().filter(|_| is_always_there(life))?;
        Some((rank?, admitted.at_ms))
    });
    let (ranks, moments): (Vec<u64>, Vec<u64>) = pairs.unzip();
    if ranks.len() < 2 {
        return None;
    }
    let (kendall_tau, _) = kendalls::tau_b(&ranks, &moments).ok()?;
    Some(Fairness { kendall_tau, people: ranks.len() as u64 })
}

/// What was told first, and what it came to, in seconds: least, most, actual.
pub(crate) fn told_and_actual(record: &Record) -> Vec<(u64, u64, f64)> {
    let waits = record.lives.iter().filter(|life| is_always_there(life)).filter_map(|life| {
        let (told, called_ms) = (life.told?, life.called_ms?);
        let actual = seconds(called_ms.checked_sub(told.at_ms)?);
        Some((told.min_seconds, told.max_seconds, actual))
    });
    waits.collect()
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn forecast(record: &Record) -> Option<Forecast> {
    let waits = told_and_actual(record);
    if waits.is_empty() {
        return None;
    }
    let within =
        waits.iter().filter(|(min, max, actual)| (*min as f64..(*max + 1) as f64).contains(actual));
    let within = within.count() as f64 / waits.len() as f64;
    let off = |(min, max, actual): &(u64, u64, f64)| (actual - (min + max) as f64 / 2.0).abs();
    let mut off: Vec<f64> = waits.iter().map(off).collect();
    off.sort_unstable_by(f64::total_cmp);
    Some(Forecast {
        people: waits.len() as u64,
        within,
        off_seconds_p50: at_share(&off, 0.5),
        off_seconds_p90: at_share(&off, 0.9),
        off_seconds_p99: at_share(&off, 0.99),
    })
}

/// The value below which that share of a sorted list lies.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into a list"
)]
fn at_share(sorted: &[f64], share: f64) -> f64 {
    let index = (sorted.len() as f64 * share) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

fn percentiles(histogram: &Histogram<u64>) -> Percentiles {
    let at = |share| millis(histogram.value_at_quantile(share));
    Percentiles {
        count: histogram.len(),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: millis(histogram.max()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn millis(micros: u64) -> f64 {
    (micros as f64 / 10.0).round() / 100.0
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}
