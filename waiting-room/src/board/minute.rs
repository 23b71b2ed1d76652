//! What has happened in the last minute: pure.

use std::collections::VecDeque;

use super::LastMinute;

/// How far back it is looked.
const SPAN_MS: u64 = 60_000;
/// People who wait for a rate of one a second: with fewer, the gate may run dry for want of people.
const ENOUGH_SECONDS: u64 = 10;
/// Before that, a room that has just opened is still finding out how many of the called come.
const BUSY_MS_MIN: u64 = 180_000;

/// Where a room stood at one moment of the store's time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Second {
    /// Milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Which life of the store the counters belong to.
    pub epoch: u64,
    /// The last queue number given out.
    pub last_number: u64,
    /// People called in all.
    pub called_total: u64,
    /// Tokens issued in all.
    pub tokens_total: u64,
    /// Tokens per minute, as configured.
    pub rate: u64,
    /// The same as it was then.
    pub rate_effective: u64,
    /// People who were there and not called.
    pub waiting: u64,
    /// Whether people were let in and neither the cap nor the stock was in the way.
    pub is_open: bool,
}

/// The last minute of a room.
#[derive(Debug, Clone, Default)]
pub struct Minute {
    seconds: VecDeque<Second>,
    /// Since when enough people have waited at an open gate, without a break.
    busy_since_ms: Option<u64>,
}

/// How many tokens there should have been at least, and how many there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortfall {
    /// At the lowest rate of the minute.
    pub expected: u64,
    /// Issued.
    pub admitted: u64,
}

impl Minute {
    /// Notes where the room stands. What was noted before a loss of the store is forgotten: the counters
    /// do not go on.
    pub fn note(&mut self, now: Second) {
        if let Some(last) = self.seconds.back() {
            if last.epoch != now.epoch {
                *self = Self::default();
            } else if now.at_ms <= last.at_ms {
                return;
            }
        }
        let enough = now.rate_effective * ENOUGH_SECONDS / 60 + 1;
        self.busy_since_ms =
            (now.is_open && now.waiting >= enough).then(|| self.busy_since_ms.unwrap_or(now.at_ms));
        self.seconds.push_back(now);
        while self.seconds.front().is_some_and(|first| first.at_ms + SPAN_MS < now.at_ms) {
            self.seconds.pop_front();
        }
    }

    /// What has happened in it.
    pub fn last(&self) -> LastMinute {
        let (Some(from), Some(to)) = (self.seconds.front(), self.seconds.back()) else {
            return LastMinute::default();
        };
        LastMinute {
            joined: to.last_number.saturating_sub(from.last_number),
            called: to.called_total.saturating_sub(from.called_total),
            admitted: to.tokens_total.saturating_sub(from.tokens_total),
            span_ms: to.at_ms - from.at_ms,
        }
    }

    /// The highest rate in it: who lowers the rate has not broken it with what was let in before.
    pub fn rate_max(&self) -> u64 {
        self.seconds.iter().map(|second| second.rate).max().unwrap_or_default()
    }

    /// How many tokens were issued while enough people waited for all that the rate allows; `None` when they
    /// did not, or not for long enough.
    pub fn while_enough_wait(&self) -> Option<Shortfall> {
        let (since, now) = (self.busy_since_ms?, self.seconds.back()?.at_ms);
        if now - since < BUSY_MS_MIN {
            return None;
        }
        let last = self.last();
        let rate = self.seconds.iter().map(|second| second.rate_effective).min()?;
        Some(Shortfall { expected: rate * last.span_ms / SPAN_MS, admitted: last.admitted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(n: u64, tokens_total: u64) -> Second {
        Second {
            at_ms: n * 1_000,
            epoch: 1,
            last_number: n * 20,
            called_total: n * 12,
            tokens_total,
            rate: 600,
            rate_effective: 600,
            waiting: 1_000,
            is_open: true,
        }
    }

    #[test]
    fn only_the_last_sixty_seconds_count() {
        let mut minute = Minute::default();
        (0..=300).for_each(|n| minute.note(second(n, n * 10)));
        let last = minute.last();
        assert_eq!((last.joined, last.called, last.admitted), (1_200, 720, 600));
        assert_eq!(last.span_ms, 60_000);
        // An answer that is no newer, and another life of the store.
        minute.note(second(300, 9_999));
        assert_eq!(minute.last().admitted, 600);
        minute.note(Second { epoch: 2, ..second(301, 0) });
        assert_eq!(minute.last().admitted, 0);
    }

    #[test]
    fn a_rate_that_was_lowered_counts_for_a_minute_as_it_was() {
        let mut minute = Minute::default();
        (0..10).for_each(|n| minute.note(second(n, 0)));
        (10..=69).for_each(|n| minute.note(Second { rate: 60, ..second(n, 0) }));
        assert_eq!(minute.rate_max(), 600);
        minute.note(Second { rate: 60, ..second(70, 0) });
        assert_eq!(minute.rate_max(), 60);
    }

    #[test]
    fn tokens_are_missed_only_while_enough_people_have_waited_for_three_minutes() {
        let mut minute = Minute::default();
        (0..180).for_each(|n| minute.note(second(n, n * 9)));
        assert_eq!(minute.while_enough_wait(), None);
        minute.note(second(180, 180 * 9));
        let expected = Shortfall { expected: 600, admitted: 540 };
        assert_eq!(minute.while_enough_wait(), Some(expected));
        // Nobody to let in for one moment, or the gate shut by the cap: it begins anew.
        for pause in
            [Second { waiting: 100, ..second(181, 0) }, Second { is_open: false, ..second(181, 0) }]
        {
            let mut paused = minute.clone();
            paused.note(pause);
            assert_eq!(paused.while_enough_wait(), None);
            paused.note(second(182, 182 * 9));
            assert_eq!(paused.while_enough_wait(), None);
        }
    }
}
