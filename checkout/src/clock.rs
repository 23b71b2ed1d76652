//! This process's own clock, for waiting and measuring. What the sale decides by time is decided by
//! Postgres' clock, in SQL.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

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

/// Records how long `work` takes in a histogram, in seconds.
pub async fn measured<T>(histogram: &'static str, work: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let result = work.await;
    metrics::histogram!(histogram).record(started.elapsed());
    result
}
