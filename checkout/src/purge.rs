//! Forgets the answers of idempotency keys past their retention, and old webhooks, in small batches.

use std::sync::Arc;
use std::time::Duration;

use shared::ids::EventId;
use tokio_util::sync::CancellationToken;

use crate::store::payments::watch;
use crate::store::{Store, StoreError, idempotency, read};

/// Answers forgotten in one statement, and those of the same moment.
const BATCH: u32 = 500;
/// Webhooks are remembered for so long, in seconds: 30 days. Providers send one again for a few days.
const WEBHOOKS_KEPT_SECONDS: f64 = 2_592_000.0;
/// Pause between two looks.
const INTERVAL: Duration = Duration::from_secs(60);
/// Pause between two batches, so that a backlog does not keep Postgres busy.
const BATCH_PAUSE: Duration = Duration::from_millis(50);

/// Purges until shutdown.
pub async fn run(store: Arc<Store>, retention_seconds: u32, shutdown: CancellationToken) {
    let forever = async {
        loop {
            if let Err(error) = purge(&store, retention_seconds).await {
                tracing::warn!(error = %error, "old answers not purged, to be tried again");
            }
            tokio::time::sleep(INTERVAL).await;
        }
    };
    // Single statements only, so that it may be dropped anywhere.
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = forever => {}
    }
}

async fn purge(store: &Store, retention_seconds: u32) -> Result<(), StoreError> {
    let events = async { read::event_ids(&mut *store.connection().await?).await };
    for event in store.bounded(events).await? {
        while purge_batch(store, &event, retention_seconds).await? {
            tokio::time::sleep(BATCH_PAUSE).await;
        }
        while purge_webhooks(store, &event).await? {
            tokio::time::sleep(BATCH_PAUSE).await;
        }
    }
    Ok(())
}

/// Whether there may be more.
async fn purge_webhooks(store: &Store, event: &EventId) -> Result<bool, StoreError> {
    let purge = async {
        let mut connection = store.connection().await?;
        watch::purge_webhooks(&mut connection, event, WEBHOOKS_KEPT_SECONDS, BATCH.into()).await
    };
    Ok(store.bounded(purge).await? >= u64::from(BATCH))
}

/// Whether there may be more.
async fn purge_batch(
    store: &Store,
    event: &EventId,
    retention_seconds: u32,
) -> Result<bool, StoreError> {
    let purge = async {
        let mut connection = store.connection().await?;
        idempotency::purge(&mut connection, event, retention_seconds, BATCH).await
    };
    let purged = store.bounded(purge).await?;
    metrics::counter!("checkout_idempotency_keys_purged_total").increment(purged);
    Ok(purged >= u64::from(BATCH))
}
