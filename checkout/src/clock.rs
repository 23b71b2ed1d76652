//! This process's own clock, for waiting and measuring. What the sale decides by time is decided by
//! Postgres' clock, in SQL.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// A time during which something is not tried, begun when it has failed.
#[derive(Debug, Default)]
pub struct Pause(Mutex<Option<Instant>>);

impl Pause {
    /// Begins now, or anew.
    pub fn begin(&self, duration: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + duration);
    }

    /// Whether it lasts.
    pub fn is_on(&self) -> bool {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }
}

/// Seconds of the Unix epoch, for what this process signs.
pub fn unix_seconds() -> u64 {
    unix_ms() / 1_000
}

/// Milliseconds of the Unix epoch, for names that are to sort by time.
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A random number for spreading things in time.
pub fn random_below(bound: u64) -> u64 {
    // Enough for a jitter, and no dependency more.
    Uuid::new_v4().as_u64_pair().1 % bound
}

/// Records how long `work` takes in a histogram, in seconds.
pub async fn measured<T>(histogram: &'static str, work: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let result = work.await;
    metrics::histogram!(histogram).record(started.elapsed());
    result
}
