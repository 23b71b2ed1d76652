//! How many people to call next, so that the gate is kept busy and nobody waits there for long.
//!
//! The gate holds rate and cap by itself; calling is a matter of comfort. It is steered like a flow
//! into a small basin: as many are called as the gate will let through, divided by the share of the
//! called who really come, plus a correction towards a short line at the gate.

/// The line at the gate that is aimed for, in seconds of what the gate lets through: enough that it
/// never runs dry between two ticks, little enough that nobody stands there for long.
const LINE_SECONDS: f64 = 1.5;
/// At a slow gate the line may be this long in seconds,
const LINE_SECONDS_SLOW: f64 = 4.0;
/// up to this many people.
const LINE_SLOW: f64 = 3.0;
/// A line that is too short or too long is corrected over about this time. It must be well above the
/// few seconds between a call and a claim, or the correction swings.
const CORRECTION_SECONDS: f64 = 12.0;
/// At most this much time is made up for in one call.
const CATCH_UP_SECONDS: f64 = 2.0;
/// A gate that will let somebody through within this time, and has nobody, is idle, in milliseconds.
const IDLE_MS: u64 = 2_000;
/// Free sessions are filled over this time, so that an empty room does not call everybody at once.
const FILLING_SECONDS: f64 = 2.0;
/// From a call to a claim it takes about this long.
const ARRIVAL_SECONDS: f64 = 5.0;
/// Before anything is measured, this share of the called is expected to come,
const SHARE_ASSUMED: f64 = 0.8;
/// with the weight of this many people.
const SHARE_ASSUMED_WEIGHT: f64 = 10.0;
/// However few come, calling goes no more than this many times as fast as the gate.
const SHARE_MIN: f64 = 0.05;

/// What the call is decided from. All counts are of people, by the store's last answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Tokens a minute that the gate lets through at most.
    pub rate_per_minute: u64,
    /// Sessions that may still begin.
    pub free: u64,
    /// Sessions that ended in the last ten seconds.
    pub ended_in_10s: u64,
    /// People who have been at the gate in the last seconds and were not let through yet.
    pub standing: u64,
    /// People called in the last ten seconds who have not come yet.
    pub on_their_way: u64,
    /// People called a while ago (ten to seventy seconds), and
    pub cohort_called: u64,
    /// how many of them have come.
    pub cohort_came: u64,
    /// Until the gate lets somebody through again, in milliseconds; 0 = now.
    pub gate_free_in_ms: u64,
    /// Since the time up to which people have been called, in milliseconds.
    pub elapsed_ms: u64,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// People to call now.
    pub people: u64,
    /// Up to when that counts, in milliseconds of the time that had elapsed: the rest is carried
    /// over, so that a slow rate loses nothing to rounding.
    pub covered_ms: u64,
}

impl Pace {
    /// The share of called people who come, 0.05 to 1: measured, and smoothed by what was assumed.
    #[expect(clippy::cast_precision_loss, reason = "counts of people are far below 2^53")]
    pub fn show_share(&self) -> f64 {
        let came = SHARE_ASSUMED * SHARE_ASSUMED_WEIGHT + self.cohort_came as f64;
        (came / (SHARE_ASSUMED_WEIGHT + self.cohort_called as f64)).clamp(SHARE_MIN, 1.0)
    }

    /// The people to call now.
    #[expect(clippy::cast_precision_loss, reason = "counts of people are far below 2^53")]
    pub fn call(&self) -> Call {
        let (free, standing) = (self.free as f64, self.standing as f64);
        let (share, elapsed) = (self.show_share(), self.elapsed_ms as f64 / 1_000.0);
        // What the gate will let through: the rate, unless sessions are the narrower door.
        let rate = self.rate_per_minute as f64 / 60.0;
        let ended_per_second = self.ended_in_10s as f64 / 10.0;
        let throughput = rate.min(free / FILLING_SECONDS + ended_per_second);
        // A few people scatter more than many: a slow gate needs a longer line in seconds.
        let line = (LINE_SECONDS * throughput)
            .max((LINE_SECONDS_SLOW * throughput).min(LINE_SLOW))
            .max(1.0);
        let correction = (line - standing) * elapsed.min(CATCH_UP_SECONDS) / CORRECTION_SECONDS;
        let wanted = (throughput * elapsed + correction) / share;
        // Time in which nobody was called is not saved up.
        let at_once = (throughput * CATCH_UP_SECONDS + line) / share;
        // No more people on their way than sessions that are free or will be when they arrive.
        let places = free + ended_per_second * ARRIVAL_SECONDS + line;
        let expected = standing + share * self.on_their_way as f64;
        let people = wanted.min(at_once).min((places - expected) / share);
        if people < 1.0 && free >= 1.0 && self.gate_is_idle() {
            return Call { people: 1, covered_ms: self.elapsed_ms };
        }
        let covered = if wanted > at_once { 1.0 } else { people.floor() / wanted };
        whole_people(people, covered, self.elapsed_ms)
    }

    /// Nobody stands at the gate or is on his way, and it would let somebody through.
    fn gate_is_idle(&self) -> bool {
        self.standing == 0 && self.on_their_way == 0 && self.gate_free_in_ms <= IDLE_MS
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "between 0 and some ten thousand people, or milliseconds"
)]
fn whole_people(people: f64, covered: f64, elapsed_ms: u64) -> Call {
    if people < 1.0 {
        return Call { people: 0, covered_ms: 0 };
    }
    Call { people: people as u64, covered_ms: (elapsed_ms as f64 * covered) as u64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLENTY: Pace = Pace {
        rate_per_minute: 600,
        free: 10_000,
        ended_in_10s: 0,
        standing: 15,
        on_their_way: 0,
        cohort_called: 1_000,
        cohort_came: 1_000,
        gate_free_in_ms: 0,
        elapsed_ms: 1_000,
    };

    #[test]
    fn with_a_line_as_long_as_it_should_be_the_rate_is_called() {
        let call = PLENTY.call();
        assert_eq!(call.people, 10);
        assert!((990..=1_000).contains(&call.covered_ms), "{call:?}");
        assert_eq!(Pace { cohort_came: 500, ..PLENTY }.call().people, 19);
        assert!(Pace { standing: 0, ..PLENTY }.call().people > 10);
        assert!(Pace { standing: 60, ..PLENTY }.call().people < 10);
    }

    #[test]
    fn a_slow_rate_loses_nothing_to_rounding() {
        let slow = Pace { rate_per_minute: 6, standing: 1, ..PLENTY };
        assert_eq!(slow.call().people, 0);
        let later = Pace { elapsed_ms: 11_000, ..slow }.call();
        assert_eq!(later.people, 1);
        assert!((9_000..=11_000).contains(&later.covered_ms), "{later:?}");
    }

    #[test]
    fn an_idle_gate_is_not_left_without_anybody() {
        let idle = Pace { rate_per_minute: 1, standing: 0, elapsed_ms: 250, ..PLENTY };
        assert_eq!(idle.call().people, 1);
        assert_eq!(Pace { gate_free_in_ms: 40_000, ..idle }.call().people, 0);
        assert_eq!(Pace { on_their_way: 1, ..idle }.call().people, 0);
        assert_eq!(Pace { free: 0, ..idle }.call().people, 0);
    }

    #[test]
    fn time_without_anybody_waiting_is_not_saved_up() {
        let long_idle = Pace { elapsed_ms: 3_600_000, ..PLENTY };
        assert!(long_idle.call().people <= 36);
        assert_eq!(long_idle.call().covered_ms, 3_600_000);
    }

    proptest! {
        #[test]
        fn no_more_are_called_than_sessions_will_be_free(
            rate_per_minute in 1u64..600_000, free in 0u64..10_000, ended_in_10s in 0u64..1_000,
            standing in 0u64..10_000, on_their_way in 0u64..10_000,
            cohort_called in 0u64..100_000, share in 0.0f64..1.0, elapsed_ms in 0u64..100_000,
        ) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "counts below 2^53")]
            let cohort_came = (cohort_called as f64 * share) as u64;
            let pace = Pace {
                rate_per_minute, free, ended_in_10s, standing, on_their_way, cohort_called, cohort_came,
                gate_free_in_ms: 0, elapsed_ms,
            };
            let call = pace.call();
            let room = free as f64 + ended_in_10s as f64 / 2.0 + line(rate_per_minute) + 1.0;
            prop_assert!(call.people as f64 * pace.show_share() <= room);
            prop_assert!(call.covered_ms <= elapsed_ms);
        }
    }

    fn line(rate_per_minute: u64) -> f64 {
        (rate_per_minute as f64 / 60.0 * LINE_SECONDS).max(LINE_SLOW)
    }
}
