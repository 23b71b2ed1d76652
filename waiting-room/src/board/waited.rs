//! How long people have really waited, and what they were told when they came: pure.

use std::collections::VecDeque;

use serde::Serialize;
use utoipa::ToSchema;

use crate::queue::EstimatedWait;

/// An hour of looks, one a second.
const LOOKS_MAX: usize = 3_600;

/// The person who was called last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct LastCalled {
    /// How long he had waited, in seconds; since the opening, if he had come before it.
    #[schema(example = 130)]
    pub waited_seconds: u64,
    /// What he was told when he came; `null` when nothing could be said then.
    #[schema(required = true)]
    pub estimated_wait_seconds: Option<EstimatedWait>,
}

/// A look at a room.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Milliseconds since the Unix epoch, by the store.
    pub at_ms: u64,
    /// The last queue number given out.
    pub last_number: u64,
    /// Everybody whose rank is at or below it has been called.
    pub serving: u64,
    /// Ranks up to this one were drawn at the opening.
    pub draw_n: u64,
    /// When that was.
    pub opened_at_ms: u64,
    /// What somebody who joins now is told.
    pub estimate: Option<EstimatedWait>,
}

/// When which number was given out, in the last hour.
#[derive(Debug, Clone, Default)]
pub struct Arrivals {
    /// Looks at which new numbers had been given out.
    looks: VecDeque<Look>,
    serving: u64,
    last_called: Option<LastCalled>,
}

impl Arrivals {
    /// Notes a look.
    pub fn note(&mut self, now: Look) {
        if now.serving > self.serving {
            self.last_called = self.called(now);
        } else if now.serving < self.serving {
            self.last_called = None;
        }
        self.serving = now.serving;
        if self.looks.back().is_none_or(|last| last.last_number < now.last_number) {
            self.looks.push_back(now);
        } else if self.looks.back().is_some_and(|last| last.last_number > now.last_number) {
            self.looks.clear();
            self.looks.push_back(now);
        }
        if self.looks.len() > LOOKS_MAX {
            self.looks.pop_front();
        }
    }

    /// The person who was called last; `None` when nobody was, or when he came before this node looked.
    pub fn last_called(&self) -> Option<LastCalled> {
        self.last_called
    }

    fn called(&self, now: Look) -> Option<LastCalled> {
        let seconds = |since_ms: u64| now.at_ms.saturating_sub(since_ms) / 1_000;
        if now.serving <= now.draw_n {
            let waited_seconds = seconds(now.opened_at_ms);
            return Some(LastCalled { waited_seconds, estimated_wait_seconds: None });
        }
        // Whoever was called before he was seen has not waited.
        let Some(after) = self.looks.iter().position(|look| look.last_number >= now.serving) else {
            let told = LastCalled { waited_seconds: 0, estimated_wait_seconds: now.estimate };
            return self.looks.back().map(|_| told);
        };
        // He came between two looks; before the first, nobody knows when.
        let before = self.looks.get(after.checked_sub(1)?)?;
        let look = self.looks.get(after)?;
        let came_ms = before.at_ms.max(look.at_ms.saturating_sub(1_000));
        Some(LastCalled { waited_seconds: seconds(came_ms), estimated_wait_seconds: look.estimate })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(second: u64, last_number: u64, serving: u64) -> Look {
        let estimate = Some(EstimatedWait { min: second, max: second + 2 });
        Look { at_ms: second * 1_000, last_number, serving, draw_n: 0, opened_at_ms: 0, estimate }
    }

    #[test]
    fn the_wait_of_whoever_is_called_is_measured_and_held_against_what_he_was_told() {
        let mut arrivals = Arrivals::default();
        (0..=30).for_each(|second| arrivals.note(look(second, second * 10, 0)));
        assert_eq!(arrivals.last_called(), None);
        // Number 55 was given out between the fifth second and the sixth.
        arrivals.note(look(31, 310, 55));
        let expected =
            LastCalled { waited_seconds: 26, estimated_wait_seconds: look(6, 0, 0).estimate };
        assert_eq!(arrivals.last_called(), Some(expected));
        arrivals.note(look(40, 310, 310));
        assert_eq!(arrivals.last_called().map(|called| called.waited_seconds), Some(10));
    }

    #[test]
    fn who_came_before_the_opening_has_waited_since_then() {
        let mut arrivals = Arrivals::default();
        let opening = |second, serving| Look {
            draw_n: 500,
            opened_at_ms: 100_000,
            ..look(second, 500, serving)
        };
        (0..=100).for_each(|second| arrivals.note(opening(second, 0)));
        arrivals.note(opening(130, 200));
        assert_eq!(arrivals.last_called().map(|called| called.waited_seconds), Some(30));
    }

    #[test]
    fn nothing_is_said_of_people_who_came_before_this_node_looked() {
        let mut arrivals = Arrivals::default();
        arrivals.note(look(0, 900, 100));
        arrivals.note(look(5, 900, 300));
        assert_eq!(arrivals.last_called(), None);
    }
}
