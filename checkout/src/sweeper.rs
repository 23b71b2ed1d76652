//! Ends holds whose time has passed, in every instance. A late sweeper lengthens no hold: whoever
//! confirms is judged by the hold's time, not by whether it has been swept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use shared::ids::EventId;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::room::endings::Endings;
use crate::store::expire::{self, Expire};
use crate::store::{Store, StoreError, transaction};
use crate::tasks::Owned;

/// Holds ended in one transaction.
const BATCH: u32 = 500;
/// The gauge of overdue holds stops here, so that counting stays cheap when it is needed most.
const OVERDUE_COUNT_MAX: i64 = 10_000;
/// How long a hold that cannot be ended is left alone.
const BAD_ROW_PAUSE: Duration = Duration::from_secs(60);

/// The sweeper of one instance.
pub struct Sweeper {
    store: Arc<Store>,
    endings: Arc<Endings>,
    /// Holds that could not be ended, and when: they must not stand in the others' way.
    bad: HashMap<Uuid, Instant>,
}

impl Sweeper {
    /// A sweeper that tells `endings` what it has ended.
    pub fn new(store: Arc<Store>, endings: Arc<Endings>) -> Self {
        Self { store, endings, bad: HashMap::new() }
    }

    /// Sweeps until shutdown. A transaction under way is finished.
    pub async fn run(mut self, owned: Owned, interval: Duration, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            if let Err(error) = self.sweep(&owned, &shutdown).await {
                tracing::warn!(error = %error, "holds not swept, to be tried again");
            }
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = tokio::time::sleep(interval) => {}
            }
        }
    }

    async fn sweep(
        &mut self,
        owned: &Owned,
        shutdown: &CancellationToken,
    ) -> Result<(), StoreError> {
        self.bad.retain(|_, at| at.elapsed() < BAD_ROW_PAUSE);
        let events = async { expire::overdue_events(&mut *self.store.connection().await?).await };
        let mut events = self.store.bounded(events).await?;
        // A batch each in turn, so that a large event does not hold up a small one.
        while !events.is_empty() && !shutdown.is_cancelled() {
            let mut unfinished = Vec::new();
            for event in events {
                match self.sweep_batch(owned, &event).await {
                    Ok(true) => unfinished.push(event),
                    Ok(false) => {}
                    Err(error) => {
                        tracing::warn!(event = %event, error = %error, "holds not swept yet");
                    }
                }
            }
            events = unfinished;
        }
        self.count_overdue().await
    }

    async fn count_overdue(&self) -> Result<(), StoreError> {
        let count = async {
            let mut connection = self.store.connection().await?;
            expire::count_overdue(&mut connection, OVERDUE_COUNT_MAX).await
        };
        let overdue = u32::try_from(self.store.bounded(count).await?).unwrap_or(u32::MAX);
        metrics::gauge!("checkout_holds_overdue").set(f64::from(overdue));
        Ok(())
    }

    /// Ends one batch of an event's holds. Whether there may be more.
    async fn sweep_batch(&mut self, owned: &Owned, event: &EventId) -> Result<bool, StoreError> {
        let bad: Vec<Uuid> = self.bad.keys().copied().collect();
        let due = async {
            let mut connection = self.store.connection().await?;
            expire::overdue_holds(&mut connection, event, &bad, BATCH.into()).await
        };
        let due = self.store.bounded(due).await?;
        let is_full = due.len() == BATCH as usize;
        let expired = match self.expire(owned, event, due.clone()).await {
            Err(error) if error.is_unexpected() => self.one_by_one(owned, event, due).await?,
            expired => expired?,
        };
        // Without any progress, another instance is at these.
        Ok(is_full && expired > 0)
    }

    /// What is left when a batch fails: one bad row must not stop the rest.
    async fn one_by_one(
        &mut self,
        owned: &Owned,
        event: &EventId,
        due: Vec<Uuid>,
    ) -> Result<usize, StoreError> {
        let mut progress = 0;
        for id in due {
            match self.expire(owned, event, vec![id]).await {
                Err(error) if error.is_unexpected() => {
                    tracing::error!(reservation = %id, error = %error, "a hold cannot be ended");
                    metrics::counter!("checkout_holds_stuck_total").increment(1);
                    self.bad.insert(id, Instant::now());
                    progress += 1;
                }
                expired => progress += expired?,
            }
        }
        Ok(progress)
    }

    async fn expire(
        &self,
        owned: &Owned,
        event: &EventId,
        reservations: Vec<Uuid>,
    ) -> Result<usize, StoreError> {
        let work = Expire { event: event.clone(), reservations };
        let expired = transaction::run(owned, &self.store, &work).await?;
        metrics::counter!("checkout_holds_expired_total").increment(expired.len() as u64);
        for reservation in &expired {
            self.endings.decided(event, *reservation);
        }
        Ok(expired.len())
    }
}
