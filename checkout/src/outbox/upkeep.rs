//! Forgets what the outbox need not keep, in small batches, and measures what waits in it.

use std::sync::Arc;
use std::time::Duration;

use shared::ids::EventId;
use tokio_util::sync::CancellationToken;

use crate::store::{Store, StoreError, outbox, read};

/// Rows forgotten in one statement.
const BATCH: u32 = 500;
/// Pause between two looks.
const INTERVAL: Duration = Duration::from_secs(10);
/// Looks at the backlog between two purges.
const LOOKS_PER_PURGE: u32 = 6;
/// Pause between two batches, so that a backlog does not keep Postgres busy.
const BATCH_PAUSE: Duration = Duration::from_millis(50);
/// What nobody has tried to deliver is kept for so long by an instance that tells no shop: should it be
/// the only one that was not told of the shop, the others have long tried.
pub const UNWANTED_AFTER_SECONDS: u32 = 3_600;

/// Whether this instance tells the shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shop {
    /// It does.
    Told,
    /// There is nobody to tell.
    NotTold,
}

/// The upkeep of one instance.
pub struct Upkeep {
    store: Arc<Store>,
    shop: Shop,
    retention_seconds: u32,
}

impl Upkeep {
    /// Keeps what was delivered for so long.
    pub fn new(store: Arc<Store>, shop: Shop, retention_seconds: u32) -> Self {
        Self { store, shop, retention_seconds }
    }

    /// Until shutdown.
    pub async fn run(self, shutdown: CancellationToken) {
        let forever = async {
            let mut looks = 0_u32;
            loop {
                if let Err(error) = self.measure().await {
                    tracing::debug!(error = %error, "the outbox could not be measured");
                }
                if looks.is_multiple_of(LOOKS_PER_PURGE)
                    && let Err(error) = self.purge().await
                {
                    tracing::warn!(error = %error, "the outbox was not purged, to be tried again");
                }
                looks = looks.wrapping_add(1);
                tokio::time::sleep(INTERVAL).await;
            }
        };
        // Single statements only, so that it may be dropped anywhere.
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = forever => {}
        }
    }

    async fn measure(&self) -> Result<(), StoreError> {
        let backlog = async { outbox::backlog(&mut *self.store.connection().await?, None).await };
        let backlog = self.store.bounded(backlog).await?;
        let pending = u32::try_from(backlog.pending).unwrap_or(u32::MAX);
        metrics::gauge!("checkout_outbox_backlog").set(f64::from(pending));
        metrics::gauge!("checkout_outbox_oldest_seconds").set(backlog.oldest_seconds);
        Ok(())
    }

    async fn purge(&self) -> Result<(), StoreError> {
        let events = async { read::event_ids(&mut *self.store.connection().await?).await };
        for event in self.store.bounded(events).await? {
            while self.purge_batch(&event).await? {
                tokio::time::sleep(BATCH_PAUSE).await;
            }
        }
        Ok(())
    }

    /// Whether there may be more.
    async fn purge_batch(&self, event: &EventId) -> Result<bool, StoreError> {
        let purge = async {
            let mut connection = self.store.connection().await?;
            let retention = self.retention_seconds;
            let purged = outbox::purge(&mut connection, event, retention, BATCH).await?;
            let unwanted = match self.shop {
                Shop::Told => 0,
                Shop::NotTold => {
                    let after = UNWANTED_AFTER_SECONDS;
                    outbox::purge_unwanted(&mut connection, event, after, BATCH).await?
                }
            };
            Ok((purged, unwanted))
        };
        let (purged, unwanted) = self.store.bounded(purge).await?;
        metrics::counter!("checkout_outbox_purged_total").increment(purged + unwanted);
        Ok(purged.max(unwanted) >= u64::from(BATCH))
    }
}
