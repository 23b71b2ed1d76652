//! Who has asked for his place lately: what refuses polls that come much earlier than told.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

/// Room grows by this many people at a time.
const STEP: usize = 4_096;
/// Beyond this many people nobody is refused: 64 MB are enough for this.
const PEOPLE_MAX: usize = 16 << 20;

/// When each queue number may ask next: four bytes a visitor, in milliseconds since the start.
#[derive(Debug)]
pub struct Polls {
    started: Instant,
    next: RwLock<Vec<AtomicU32>>,
}

impl Default for Polls {
    fn default() -> Self {
        Self { started: Instant::now(), next: RwLock::default() }
    }
}

impl Polls {
    /// Notes a poll that is told to come again after `poll_after_ms`. When it comes at less than half
    /// of the time that the last one was told, the answer is how many milliseconds are left.
    pub fn admit(&self, number: u64, poll_after_ms: u64) -> Result<(), u64> {
        let Ok(index) = usize::try_from(number) else { return Ok(()) };
        if index >= PEOPLE_MAX {
            return Ok(());
        }
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.grow_to(index);
        let next = self.next.read().unwrap_or_else(PoisonError::into_inner);
        let Some(slot) = next.get(index) else { return Ok(()) };
        let earliest_ms = u64::from(slot.load(Ordering::Relaxed));
        if now_ms < earliest_ms {
            return Err(earliest_ms - now_ms);
        }
        // After 49 days the slot no longer moves, and nobody is refused any more.
        slot.store(u32::try_from(now_ms + poll_after_ms / 2).unwrap_or(0), Ordering::Relaxed);
        Ok(())
    }

    fn grow_to(&self, index: usize) {
        if self.next.read().unwrap_or_else(PoisonError::into_inner).len() > index {
            return;
        }
        let mut next = self.next.write().unwrap_or_else(PoisonError::into_inner);
        if next.len() <= index {
            next.resize_with(index + STEP, AtomicU32::default);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_at_less_than_half_of_the_time_told_is_refused_and_others_are_not() {
        let polls = Polls::default();
        assert_eq!(polls.admit(7, 3_600_000), Ok(()));
        assert!(polls.admit(7, 3_600_000).is_err_and(|left| left <= 1_800_000));
        assert_eq!(polls.admit(8, 0), Ok(()));
        assert_eq!(polls.admit(8, 0), Ok(()));
        assert_eq!(polls.admit(u64::MAX, 3_600_000), Ok(()));
    }
}
