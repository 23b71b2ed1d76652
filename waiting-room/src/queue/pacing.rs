//! How many people to call next.

/// How much of the rate is called ahead of the gate, in seconds: enough that the gate never stands
/// idle while people walk up to it, little enough that nobody called waits there for long.
const CALLED_AHEAD_SECONDS: u64 = 2;

/// How many people to call now, so that those called and not yet through are just enough for what
/// the gate will let through: the free sessions, and two seconds of the rate (at least one person).
/// The gate itself holds rate and cap; calling more than it lets through only makes people wait
/// there.
pub fn people_to_call(rate_per_minute: u64, sessions_max: u64, active: u64, called: u64) -> u64 {
    let by_rate = (rate_per_minute * CALLED_AHEAD_SECONDS).div_ceil(60).max(1);
    let free = sessions_max.saturating_sub(active);
    by_rate.min(free).saturating_sub(called)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_seconds_of_the_rate_are_called_ahead() {
        assert_eq!(people_to_call(600, 1_000, 0, 0), 20);
        assert_eq!(people_to_call(600, 1_000, 0, 15), 5);
        assert_eq!(people_to_call(1, 1_000, 0, 0), 1);
    }

    proptest! {
        #[test]
        fn never_more_than_the_free_sessions_and_nobody_when_enough_are_called(
            rate in 1u64..100_000, cap in 1u64..100_000, active in 0u64..200_000, called in 0u64..10_000,
        ) {
            let calls = people_to_call(rate, cap, active, called);
            prop_assert!(calls + called <= cap.saturating_sub(active).max(called));
        }
    }
}
