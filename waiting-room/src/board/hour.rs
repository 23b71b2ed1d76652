//! The last hour in steps of five seconds: a ring of fixed size.

use std::collections::{BTreeMap, VecDeque};

/// Between two samples.
pub const INTERVAL_SECONDS: u64 = 5;
/// An hour of them.
const SAMPLES_MAX: usize = 720;

/// What is kept of each moment, in this order.
pub const SERIES: [&str; 18] = [
    "waiting",
    "called",
    "active_sessions",
    "max_active_sessions",
    "admitted_in_60s",
    "rate_per_minute",
    "effective_rate_per_minute",
    "joined_in_60s",
    "no_show_percent",
    "estimated_wait_seconds",
    "waited_seconds",
    "available",
    "held",
    "confirmed",
    "reservations_per_second",
    "refusals_in_60s",
    "queue_delay_ms",
    "holds_overdue",
];

/// One moment. What was not known then is not a number; single precision is enough for a chart.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Milliseconds since the Unix epoch, by this node's clock.
    pub at_ms: u64,
    /// As [`SERIES`] names them.
    pub values: [f32; SERIES.len()],
}

/// The last hour of a room.
#[derive(Debug, Clone, Default)]
pub struct Hour(VecDeque<Sample>);

impl Hour {
    /// Adds a moment; the oldest is forgotten after an hour.
    pub fn add(&mut self, sample: Sample) {
        if self.0.len() >= SAMPLES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(sample);
    }

    /// All moments.
    pub fn at_ms(&self) -> Vec<u64> {
        self.0.iter().map(|sample| sample.at_ms).collect()
    }

    /// What is known of each of them, by name.
    pub fn series(&self) -> BTreeMap<&'static str, Vec<Option<f32>>> {
        let known = |value: f32| value.is_finite().then_some(value);
        let columns = SERIES.into_iter().enumerate();
        columns
            .map(|(n, name)| (name, self.0.iter().map(|one| known(one.values[n])).collect()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_kept_and_no_more() {
        let mut hour = Hour::default();
        for n in 0..1_000_u16 {
            let mut values = [f32::NAN; SERIES.len()];
            values[0] = f32::from(n);
            hour.add(Sample { at_ms: u64::from(n) * 5_000, values });
        }
        let (times, series) = (hour.at_ms(), hour.series());
        assert_eq!(times.len(), 720);
        assert_eq!(times[719] - times[0], 719 * INTERVAL_SECONDS * 1_000);
        assert_eq!(series["waiting"][0], Some(280.0));
        assert_eq!(series["holds_overdue"][719], None);
    }
}
