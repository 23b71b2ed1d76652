//! Heartbeats, written together once a second.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;

const WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// People in one call of the script, so that no single step holds Redis for long.
const PEOPLE_IN_A_STEP: usize = 1_000;

/// Writes gathered heartbeats until shutdown, and once more then.
pub async fn write_heartbeats_until(app: Arc<App>, shutdown: CancellationToken) {
    let mut writes = interval(WRITE_INTERVAL);
    writes.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let last = tokio::select! {
            () = shutdown.cancelled() => true,
            _ = writes.tick() => false,
        };
        write_heartbeats(&app).await;
        if last {
            return;
        }
    }
}

async fn write_heartbeats(app: &App) {
    for (event, people) in app.presence.take() {
        for step in people.chunks(PEOPLE_IN_A_STEP) {
            if let Err(error) = app.store.heartbeats(&event, step).await {
                // Two grace periods pass before anybody counts as absent; the next one will do.
                tracing::warn!(error = %error, people = step.len(), "heartbeats not written");
            }
        }
    }
}
