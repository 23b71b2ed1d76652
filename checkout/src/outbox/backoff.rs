//! How long to wait after a failure: for one message, and for the shop as a whole.

use std::time::Duration;

/// A message waits no longer than this, whatever the shop asks for.
const PAUSE_MAX: Duration = Duration::from_secs(3 * 3_600);
/// The first pause for a shop that answers nothing well any more,
const STRAIN_PAUSE: Duration = Duration::from_millis(100);
/// and the longest.
const STRAIN_PAUSE_MAX: Duration = Duration::from_secs(5);

/// The pause after a message's `failures`-th failure: twice as long each time, from `first`, and between
/// half and one and a half of that, by `spread` out of 1000. No shorter than the shop has `asked` for.
pub fn pause(first: Duration, failures: u32, spread: u64, asked: Option<Duration>) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
    let regular = first.saturating_mul(doubled).min(PAUSE_MAX);
    let permille = 500 + u32::try_from(spread.min(1_000)).unwrap_or(1_000);
    let spread = regular.saturating_mul(permille) / 1_000;
    spread.max(asked.unwrap_or_default().min(PAUSE_MAX))
}

/// What the shop's answers say about the shop. After as many failures in a row as are sent at once it
/// is asked about one message at a time, less and less often: a shop that is down costs neither the
/// database nor the messages' attempts much.
#[derive(Debug, Clone, Copy)]
pub struct Strain {
    at_once: usize,
    failures: usize,
}

impl Strain {
    /// Nothing is known; `at_once` are sent at once.
    pub fn new(at_once: usize) -> Self {
        Self { at_once, failures: 0 }
    }

    /// A message was answered.
    pub fn note(&mut self, well: bool) {
        self.failures = if well { 0 } else { self.failures.saturating_add(1) };
    }

    /// How many may be under way at once.
    pub fn slots(&self) -> usize {
        if self.failures < self.at_once { self.at_once } else { 1 }
    }

    /// How long nothing is to be begun after the last failure.
    pub fn pause(&self) -> Duration {
        let Some(beyond) = self.failures.checked_sub(self.at_once) else { return Duration::ZERO };
        let doubled = 2_u32.saturating_pow(u32::try_from(beyond).unwrap_or(u32::MAX));
        STRAIN_PAUSE.saturating_mul(doubled).min(STRAIN_PAUSE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_waits_twice_as_long_each_time() {
        let pauses = [1, 2, 3, 30].map(|failures| {
            let pause = pause(Duration::from_secs(2), failures, 500, None);
            pause.as_secs()
        });
        assert_eq!(pauses, [2, 4, 8, 10_800]);
        let asked = pause(Duration::from_secs(2), 1, 0, Some(Duration::from_secs(60)));
        assert_eq!(asked.as_secs(), 60, "the shop asked for it");
        let too_long = pause(Duration::from_secs(2), 1, 0, Some(Duration::from_secs(1_000_000)));
        assert_eq!(too_long, PAUSE_MAX);
    }

    #[test]
    fn a_shop_that_is_down_is_asked_one_at_a_time_and_one_good_answer_is_enough() {
        let mut strain = Strain::new(3);
        for _ in 0..2 {
            strain.note(false);
        }
        assert_eq!((strain.slots(), strain.pause()), (3, Duration::ZERO));
        strain.note(false);
        assert_eq!((strain.slots(), strain.pause()), (1, STRAIN_PAUSE));
        for _ in 0..100 {
            strain.note(false);
        }
        assert_eq!((strain.slots(), strain.pause()), (1, STRAIN_PAUSE_MAX));
        strain.note(true);
        assert_eq!((strain.slots(), strain.pause()), (3, Duration::ZERO));
    }

    proptest! {
        #[test]
        fn a_pause_is_spread_about_its_length(
            first_ms in 1..10_000_u64, failures in 1..100_u32, spread in 0..1_000_u64,
        ) {
            let first = Duration::from_millis(first_ms);
            let (least, most) =
                (pause(first, failures, 0, None), pause(first, failures, 1_000, None));
            let pause = pause(first, failures, spread, None);
            prop_assert!(least <= pause && pause <= most);
            prop_assert_eq!(most, least * 3);
        }
    }
}
