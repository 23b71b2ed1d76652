//! When tokens were issued, as far as a node has seen: what gives a lost store its sessions back.

use std::collections::VecDeque;

/// Tokens whose issue is known to lie at or before a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issued {
    /// The first look after they were issued, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// How many.
    pub count: u64,
}

/// The counter of issued tokens over time, one entry for each look at which it had moved.
#[derive(Debug, Clone, Default)]
pub struct History {
    looks: VecDeque<(u64, u64)>,
}

impl History {
    /// Notes the counter; entries older than `keep_ms` are forgotten.
    pub fn note(&mut self, now_ms: u64, tokens_total: u64, keep_ms: u64) {
        if self.looks.back().is_none_or(|&(_, total)| total < tokens_total) {
            self.looks.push_back((now_ms, tokens_total));
        }
        // The last forgotten entry is where the first remembered one counts from.
        while self.looks.get(1).is_some_and(|&(at, _)| at + keep_ms < now_ms) {
            self.looks.pop_front();
        }
    }

    /// The tokens after the first `tokens` of all, newest first.
    pub fn since(&self, tokens: u64) -> Vec<Issued> {
        let befores = self.looks.iter().map(|&(_, total)| total);
        self.looks
            .iter()
            .skip(1)
            .zip(befores)
            .map(|(&(at_ms, total), before)| Issued {
                at_ms,
                count: total.saturating_sub(before.max(tokens)),
            })
            .filter(|issued| issued.count > 0)
            .rev()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(looks: &[(u64, u64)], keep_ms: u64) -> History {
        let mut history = History::default();
        for &(now_ms, total) in looks {
            history.note(now_ms, total, keep_ms);
        }
        history
    }

    #[test]
    fn tokens_are_dated_to_the_look_that_first_saw_them() {
        let history = history(&[(0, 0), (250, 3), (500, 3), (750, 5)], 10_000);
        let all = [Issued { at_ms: 750, count: 2 }, Issued { at_ms: 250, count: 3 }];
        assert_eq!(history.since(0), all);
        assert_eq!(history.since(4), [Issued { at_ms: 750, count: 1 }]);
        assert_eq!(history.since(5), []);
    }

    #[test]
    fn what_is_long_over_is_forgotten() {
        let history = history(&[(0, 0), (1_000, 5), (20_000, 7), (40_000, 9)], 15_000);
        let kept = [Issued { at_ms: 40_000, count: 2 }];
        assert_eq!(history.since(0), kept);
    }

    #[test]
    fn a_node_that_starts_late_does_not_date_what_it_has_not_seen() {
        let history = history(&[(5_000, 100), (6_000, 101)], 15_000);
        assert_eq!(history.since(0), [Issued { at_ms: 6_000, count: 1 }]);
    }
}
