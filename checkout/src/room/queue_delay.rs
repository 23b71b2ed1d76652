//! How long the sale makes people wait before it writes, as the waiting room is told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::ids::EventId;

/// A wait counts until the end of the next span, so for half a second to a second.
const SPAN: Duration = Duration::from_millis(500);

/// The longest wait of the last moments, over all sectors of one event.
#[derive(Debug, Default)]
pub struct QueueDelay(Mutex<Spans>);

#[derive(Debug, Default)]
struct Spans {
    began: Option<Instant>,
    longest: Duration,
    longest_before: Duration,
}

impl QueueDelay {
    /// The reservation at the head of a line has waited so long.
    pub fn note(&self, waited: Duration) {
        self.with_spans(Instant::now(), |spans| spans.longest = spans.longest.max(waited));
    }

    /// The longest wait noted in the last half second to second; zero when there was none.
    pub fn current(&self) -> Duration {
        self.with_spans(Instant::now(), |spans| spans.longest.max(spans.longest_before))
    }

    fn with_spans<T>(&self, now: Instant, act: impl FnOnce(&mut Spans) -> T) -> T {
        let mut spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spans.advance(now);
        act(&mut spans)
    }
}

impl Spans {
    fn advance(&mut self, now: Instant) {
        let age = self.began.map(|began| now.saturating_duration_since(began));
        match age {
            Some(age) if age < SPAN => return,
            Some(age) if age < 2 * SPAN => self.longest_before = self.longest,
            _ => self.longest_before = Duration::ZERO,
        }
        (self.began, self.longest) = (Some(now), Duration::ZERO);
    }
}

/// The delays of this instance's events.
#[derive(Debug, Default)]
pub struct QueueDelays {
    // Only of events that exist.
    events: Mutex<HashMap<EventId, Arc<QueueDelay>>>,
}

impl QueueDelays {
    /// An event's.
    pub fn of(&self, event: &EventId) -> Arc<QueueDelay> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(delay) = events.get(event) {
            return delay.clone();
        }
        events.entry(event.clone()).or_default().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_counts_for_a_moment_and_no_longer() {
        let (delay, start) = (QueueDelay::default(), Instant::now());
        let note = |after_ms, waited_ms| {
            delay.with_spans(start + Duration::from_millis(after_ms), |spans| {
                spans.longest = spans.longest.max(Duration::from_millis(waited_ms));
                spans.longest.max(spans.longest_before)
            })
        };
        assert_eq!(note(0, 80), Duration::from_millis(80));
        assert_eq!(note(100, 20), Duration::from_millis(80));
        assert_eq!(note(600, 10), Duration::from_millis(80));
        assert_eq!(note(1_100, 0), Duration::from_millis(10));
        assert_eq!(note(9_000, 0), Duration::ZERO);
    }
}
