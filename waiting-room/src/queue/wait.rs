//! The estimated wait, from how the serving counter has really moved.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How far back the movement is looked at, in milliseconds.
const WINDOW_MS: u64 = 60_000;
/// Less than this is no measurement.
const WINDOW_MS_MIN: u64 = 5_000;
/// One sample a second is kept.
const SAMPLE_INTERVAL_MS: u64 = 1_000;

/// A wait in whole seconds, as a range: a single figure would claim what nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EstimatedWait {
    /// At least about this long.
    pub min: u64,
    /// At most about this long.
    pub max: u64,
}

/// The counter's recent movement, by the store's clock.
#[derive(Debug, Clone, Default)]
pub struct Movement {
    samples: VecDeque<(u64, u64)>,
}

impl Movement {
    /// Notes where the counter stood at a moment.
    pub fn note(&mut self, now_ms: u64, serving: u64) {
        if self.samples.back().is_some_and(|&(at, _)| now_ms < at + SAMPLE_INTERVAL_MS) {
            return;
        }
        self.samples.push_back((now_ms, serving));
        while self.samples.front().is_some_and(|&(at, _)| at + WINDOW_MS < now_ms) {
            self.samples.pop_front();
        }
    }

    /// The wait of somebody with that many before him; `None` while nothing can be said.
    pub fn estimate(&self, users_ahead: u64) -> Option<EstimatedWait> {
        let (&(from_ms, from), &(to_ms, to)) = (self.samples.front()?, self.samples.back()?);
        let (moved, took_ms) = (to.checked_sub(from)?, to_ms.checked_sub(from_ms)?);
        if moved == 0 || took_ms < WINDOW_MS_MIN {
            return None;
        }
        let expected_ms = u128::from(users_ahead + 1) * u128::from(took_ms) / u128::from(moved);
        let expected = u64::try_from(expected_ms / 1_000).ok()?;
        // The count of n arrivals scatters by √n; a quarter to each side covers 16 and more.
        Some(EstimatedWait { min: expected - expected / 4, max: expected + expected / 4 + 2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_claimed_before_the_counter_was_seen_to_move() {
        let mut movement = Movement::default();
        assert_eq!(movement.estimate(10), None);
        for second in 0..30 {
            movement.note(second * 1_000, 40);
        }
        assert_eq!(movement.estimate(10), None);
    }

    #[test]
    fn the_measured_movement_gives_the_wait() {
        let mut movement = Movement::default();
        for second in 0..=30 {
            movement.note(second * 1_000, second * 10);
        }
        assert_eq!(movement.estimate(599), Some(EstimatedWait { min: 45, max: 77 }));
        assert_eq!(movement.estimate(0), Some(EstimatedWait { min: 0, max: 2 }));
    }

    #[test]
    fn only_the_last_minute_counts() {
        let mut movement = Movement::default();
        for second in 0..=300u64 {
            let serving = if second < 200 { 0 } else { (second - 200) * 10 };
            movement.note(second * 1_000, serving);
        }
        assert_eq!(movement.estimate(99), Some(EstimatedWait { min: 8, max: 14 }));
    }
}
