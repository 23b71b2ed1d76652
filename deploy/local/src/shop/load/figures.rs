//! What a load has come to so far.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// A minute: no request may take so long.
const LONGEST_MICROS: u64 = 60_000_000;

/// Requests answered, by what was answered, and how long the good ones took.
pub(super) struct Figures {
    /// In microseconds, to three digits.
    latencies: Histogram<u64>,
    /// Status and code, or why there was no answer.
    outcomes: BTreeMap<String, u64>,
    /// Good answers in each whole second.
    per_second: Vec<u64>,
    seconds: usize,
    begun: Option<Instant>,
    ended: Option<Instant>,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            latencies: Histogram::new_with_bounds(1, LONGEST_MICROS, 3)
                .expect("the bounds are in order and three digits are allowed"),
            outcomes: BTreeMap::new(),
            per_second: Vec::new(),
            seconds: 0,
            begun: None,
            ended: None,
        }
    }
}

impl Figures {
    /// From now on, for so many seconds.
    pub(super) fn begin(&mut self, seconds: u64) {
        self.seconds = usize::try_from(seconds).unwrap_or(usize::MAX);
        self.begun = Some(Instant::now());
    }

    pub(super) fn end(&mut self) {
        self.ended = Some(Instant::now());
    }

    /// One request that was answered, or was not.
    pub(super) fn count(&mut self, outcome: String, good: bool, took: Duration) {
        *self.outcomes.entry(outcome).or_default() += 1;
        if !good {
            return;
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.latencies.saturating_record(micros);
        let second = usize::try_from(self.elapsed().as_secs()).unwrap_or_default();
        // What ends after the last second was begun in it.
        let second = second.min(self.seconds.saturating_sub(1));
        if self.per_second.len() <= second {
            self.per_second.resize(second + 1, 0);
        }
        self.per_second[second] += 1;
    }

    /// Good answers.
    pub(super) fn good(&self) -> u64 {
        self.latencies.len()
    }

    pub(super) fn shown(&self) -> Value {
        let seconds = self.elapsed().as_secs_f64();
        let at = |quantile| {
            let micros = self.latencies.value_at_quantile(quantile);
            Duration::from_micros(micros).as_secs_f64() * 1_000.0
        };
        let rate = if seconds > 0.0 {
            Duration::from_secs(self.good()).as_secs_f64() / seconds
        } else {
            0.0
        };
        json!({
            "elapsed_seconds": seconds, "reservations": self.good(), "per_second": rate,
            "seconds": self.per_second, "outcomes": self.outcomes,
            "p50_ms": at(0.5), "p95_ms": at(0.95), "p99_ms": at(0.99), "max_ms": at(1.0),
        })
    }

    fn elapsed(&self) -> Duration {
        let end = self.ended.unwrap_or_else(Instant::now);
        self.begun.map_or(Duration::ZERO, |begun| end - begun)
    }
}
