//! A value that many ask for and one loads: the others wait for that answer, and a failure is an answer too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::RwLock;

use crate::store::StoreError;

/// How old it may be while Postgres cannot be asked. What is decided is decided by what is true then.
const STALE_AGE_MAX: Duration = Duration::from_secs(10);
/// For how long a failure is everybody's answer.
const FAILURE_AGE_MAX: Duration = Duration::from_millis(200);

/// A value that is loaded again when it is too old, by one caller for all.
pub(crate) struct Fresh<T>(RwLock<Known<T>>);

/// What came of loading it.
struct Known<T> {
    /// The last value, and when it was asked for.
    value: Option<(Instant, Arc<T>)>,
    /// When it could not be loaded, if that was the last attempt.
    failed_at: Option<Instant>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { value: None, failed_at: None }
    }
}

impl<T> Default for Fresh<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> Fresh<T> {
    /// The value, at most `age_max` old, or ten seconds when it cannot be loaded. `load` is
    /// only run when it is needed. It is a read: a caller that goes away may drop it.
    pub(crate) async fn get(
        &self,
        age_max: Duration,
        load: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<Arc<T>, StoreError> {
        if let Some(answer) = self.0.read().await.answer(age_max) {
            return answer;
        }
        let mut known = self.0.write().await;
        // Somebody else may have loaded it meanwhile.
        if let Some(answer) = known.answer(age_max) {
            return answer;
        }
        let asked_at = Instant::now();
        match load.await {
            Ok(value) => {
                let value = Arc::new(value);
                *known = Known { value: Some((asked_at, value.clone())), failed_at: None };
                Ok(value)
            }
            Err(error) => {
                known.failed_at = Some(Instant::now());
                known.fresh(STALE_AGE_MAX).ok_or(error)
            }
        }
    }

    pub(crate) async fn forget(&self) {
        *self.0.write().await = Known::default();
    }
}

impl<T> Known<T> {
    fn fresh(&self, age_max: Duration) -> Option<Arc<T>> {
        self.value.as_ref().filter(|(at, _)| at.elapsed() < age_max).map(|(_, value)| value.clone())
    }

    /// What can be said without loading it.
    fn answer(&self, age_max: Duration) -> Option<Result<Arc<T>, StoreError>> {
        if let Some(value) = self.fresh(age_max) {
            return Some(Ok(value));
        }
        self.failed_at.filter(|at| at.elapsed() < FAILURE_AGE_MAX)?;
        Some(self.fresh(STALE_AGE_MAX).ok_or(StoreError::Unavailable(None)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const AGE_MAX: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn a_crowd_asks_once_and_shares_the_answer_or_the_failure() {
        let asked = AtomicU32::new(0);
        let load = async |answer: Result<u32, StoreError>| {
            asked.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            answer
        };
        let slot = Fresh::default();
        let one = || slot.get(AGE_MAX, load(Ok(7)));
        let (first, second, third) = tokio::join!(one(), one(), one());
        assert_eq!([first, second, third].map(|got| got.ok().as_deref().copied()), [Some(7); 3]);
        assert_eq!(asked.load(Ordering::Relaxed), 1);

        slot.forget().await;
        let one = || slot.get(AGE_MAX, load(Err(StoreError::Conflict)));
        let (first, second) = tokio::join!(one(), one());
        assert!(first.is_err() && second.is_err());
        assert_eq!(asked.load(Ordering::Relaxed), 2);

        let slot = Fresh::default();
        assert!(slot.get(AGE_MAX, load(Ok(7))).await.is_ok());
        let stale = slot.get(Duration::ZERO, load(Err(StoreError::Conflict))).await;
        assert_eq!(stale.ok().as_deref().copied(), Some(7), "better than nothing");
    }
}
