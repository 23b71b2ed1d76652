//! How often somebody may try to sign in, so that a form is no place to guess a token.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Attempts from one address within a [`SPAN`].
const ATTEMPTS_MAX: u32 = 10;
const SPAN: Duration = Duration::from_secs(60);
/// Addresses that are remembered; one more, and the oldest is forgotten.
const ADDRESSES_MAX: usize = 1_000;

/// Attempts without success, by address.
#[derive(Default)]
pub(super) struct Attempts(Mutex<HashMap<IpAddr, Tries>>);

#[derive(Clone, Copy)]
struct Tries {
    since: Instant,
    count: u32,
}

impl Attempts {
    /// Counts an attempt before it is looked at, so that many at once are no way around it.
    ///
    /// # Errors
    /// After too many: seconds until the next may be made.
    pub(super) fn begin(&self, address: IpAddr, now: Instant) -> Result<(), u64> {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= ADDRESSES_MAX && !tries.contains_key(&address) {
            let oldest = tries.iter().min_by_key(|(_, tries)| tries.since).map(|(key, _)| *key);
            oldest.and_then(|oldest| tries.remove(&oldest));
        }
        let tries = tries.entry(address).or_insert(Tries { since: now, count: 0 });
        let age = now.saturating_duration_since(tries.since);
        if age >= SPAN {
            *tries = Tries { since: now, count: 0 };
        } else if tries.count >= ATTEMPTS_MAX {
            return Err((SPAN - age).as_secs() + 1);
        }
        tries.count += 1;
        Ok(())
    }

    /// Somebody has signed in from there.
    pub(super) fn succeeded(&self, address: IpAddr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u16) -> IpAddr {
        let [high, low] = n.to_be_bytes();
        [10, 0, high, low].into()
    }

    #[test]
    fn after_ten_attempts_an_address_has_to_wait_and_others_have_not() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..ATTEMPTS_MAX {
            assert_eq!(attempts.begin(address(1), now), Ok(()));
        }
        assert_eq!(attempts.begin(address(1), now + SPAN / 2), Err(31));
        assert_eq!(attempts.begin(address(2), now), Ok(()));
        assert_eq!(attempts.begin(address(1), now + SPAN), Ok(()));
    }

    #[test]
    fn who_has_signed_in_begins_anew_and_memory_is_bounded() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..3 * ATTEMPTS_MAX {
            assert_eq!(attempts.begin(address(1), now), Ok(()));
            attempts.succeeded(address(1));
        }
        for n in 0..2 * 1_000 {
            assert_eq!(attempts.begin(address(n), now), Ok(()));
        }
        assert_eq!(attempts.0.lock().expect("not poisoned").len(), ADDRESSES_MAX);
    }
}
