//! The estimated wait, from how people have really been called.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How far back the movement is looked at, in milliseconds.
const WINDOW_MS: u64 = 60_000;
/// Less than this is no measurement.
const WINDOW_MS_MIN: u64 = 5_000;
/// One look a second is kept.
const INTERVAL_MS: u64 = 1_000;

/// A wait in whole seconds, as a range: a single figure would claim what nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EstimatedWait {
    /// At least about this long.
    #[schema(example = 90)]
    pub min: u64,
    /// At most about this long.
    #[schema(example = 150)]
    pub max: u64,
}

/// A room's counters at one moment of the store's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// People called in all; absent ones, who are passed over, not counted.
    pub called_total: u64,
    /// Tokens issued in all.
    pub tokens_total: u64,
    /// Sessions at that moment.
    pub active: u64,
    /// Called people who were on their way or stood at the gate then.
    pub at_gate: u64,
    /// Whether anybody was waiting to be called then, in a room that calls.
    pub anybody_waiting: bool,
}

/// The last minute of a room.
#[derive(Debug, Clone, Default)]
pub struct Movement {
    looks: VecDeque<Sample>,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    look: Look,
    /// For how long anybody has been waiting in all, in milliseconds: how fast people are called shows
    /// only while there is somebody to call.
    busy_ms: u64,
}

impl Movement {
    /// Notes where the counters stood.
    pub fn note(&mut self, look: Look) {
        let last = self.looks.back().copied();
        if last.is_some_and(|last| look.now_ms < last.look.now_ms + INTERVAL_MS) {
            return;
        }
        let busy_ms = last.map_or(0, |last| {
            let since_ms =
                if last.look.anybody_waiting { look.now_ms - last.look.now_ms } else { 0 };
            last.busy_ms + since_ms
        });
        self.looks.push_back(Sample { look, busy_ms });
        while self.looks.front().is_some_and(|first| first.look.now_ms + WINDOW_MS < look.now_ms) {
            self.looks.pop_front();
        }
    }

    /// The wait of somebody with that many people before him; `None` while nothing can be said.
    pub fn estimate(&self, users_ahead: u64) -> Option<EstimatedWait> {
        let (first, to) = (self.looks.front()?, self.looks.back()?);
        // At an opening people are called for some seconds before the first of them comes: that tells nothing.
        let nobody_came = |sample: &&Sample| sample.look.tokens_total == first.look.tokens_total;
        let from = self.looks.iter().take_while(nobody_came).last()?;
        let called = to.look.called_total.checked_sub(from.look.called_total)?;
        // And who fills the line at the gate is not through it: that goes on for a while after the opening.
        let called = called.saturating_sub(to.look.at_gate.saturating_sub(from.look.at_gate));
        let busy_ms = to.busy_ms.checked_sub(from.busy_ms)?;
        if called == 0 || busy_ms < WINDOW_MS_MIN {
            return None;
        }
        let expected_ms = u128::from(users_ahead + 1) * u128::from(busy_ms) / u128::from(called);
        let expected = u64::try_from(expected_ms / 1_000).ok()?;
        // The count of n arrivals scatters by √n; a quarter to each side covers 16 and more.
        Some(EstimatedWait { min: expected - expected / 4, max: expected + expected / 4 + 2 })
    }

    /// How many sessions ended in the last ten seconds.
    pub fn ended_in_10s(&self) -> u64 {
        let Some(to) = self.looks.back().map(|sample| sample.look) else { return 0 };
        let looks = self.looks.iter().rev().map(|sample| sample.look);
        let from = looks.take_while(|look| look.now_ms + 10_500 > to.now_ms).last();
        from.map_or(0, |from| {
            let begun = to.tokens_total.saturating_sub(from.tokens_total);
            (from.active + begun).saturating_sub(to.active)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(second: u64, called_total: u64, anybody_waiting: bool) -> Look {
        let (now_ms, tokens_total) = (second * 1_000, second * 5);
        Look { now_ms, called_total, tokens_total, active: 40, at_gate: 0, anybody_waiting }
    }

    fn movement(seconds: u64, called: impl Fn(u64) -> u64) -> Movement {
        let mut movement = Movement::default();
        for second in 0..=seconds {
            let called_total = called(second);
            movement.note(look(second, called_total, true));
        }
        movement
    }

    #[test]
    fn nothing_is_claimed_before_people_were_seen_to_be_called() {
        assert_eq!(Movement::default().estimate(10), None);
        assert_eq!(movement(30, |_| 40).estimate(10), None);
        assert_eq!(movement(3, |second| second * 10).estimate(10), None);
    }

    #[test]
    fn the_measured_movement_gives_the_wait() {
        let movement = movement(30, |second| second * 10);
        assert_eq!(movement.estimate(599), Some(EstimatedWait { min: 45, max: 77 }));
        assert_eq!(movement.estimate(0), Some(EstimatedWait { min: 0, max: 2 }));
    }

    #[test]
    fn the_line_that_fills_at_an_opening_is_no_pace() {
        let mut movement = Movement::default();
        for second in 0..=20_u64 {
            // Ten a second are let in from the fourth second on; fifty more are called to fill the line.
            let tokens_total = second.saturating_sub(3) * 10;
            let at_gate = (second * 5).min(50);
            let called_total = tokens_total + at_gate;
            movement.note(Look { tokens_total, at_gate, ..look(second, called_total, true) });
            let told = movement.estimate(599);
            assert!(told.is_none_or(|wait| wait.min <= 60 && 60 <= wait.max), "{second}: {told:?}");
            assert_eq!(told.is_some(), second >= 8, "{second}");
        }
    }

    #[test]
    fn only_the_last_minute_counts() {
        let movement = movement(300, |second| second.saturating_sub(200) * 10);
        assert_eq!(movement.estimate(99), Some(EstimatedWait { min: 8, max: 14 }));
    }

    #[test]
    fn a_queue_that_was_empty_does_not_look_slow() {
        let mut movement = Movement::default();
        for second in 0..=50 {
            // One person every ten seconds, called within a second.
            let comes = second % 10 == 0;
            movement.note(look(second, second.div_ceil(10), comes));
        }
        assert_eq!(movement.estimate(0), Some(EstimatedWait { min: 1, max: 3 }));
    }

    #[test]
    fn sessions_that_ended_are_those_begun_and_no_longer_there() {
        assert_eq!(movement(30, |_| 0).ended_in_10s(), 50);
        assert_eq!(Movement::default().ended_in_10s(), 0);
    }
}
