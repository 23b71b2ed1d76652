//! What a node does by itself: the tick, and the writing of heartbeats. There is no leader; every
//! node does the same, and the store's scripts make that safe.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use shared::ids::EventId;
use shared::redis::RedisError;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::queue::{Mode, people_to_call};
use crate::rooms::Room;

/// How often every room is looked at: the bound on the age of what people are told.
const TICK_INTERVAL: Duration = Duration::from_millis(250);
const HEARTBEAT_WRITE_INTERVAL: Duration = Duration::from_secs(1);
/// People in one call of the script, so that no single step holds Redis for long.
const HEARTBEATS_IN_A_STEP: usize = 1_000;

/// Ticks until shutdown.
pub async fn tick_until(app: Arc<App>, shutdown: CancellationToken) {
    let mut ticks = interval(TICK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = tick_all(&app).await {
            tracing::warn!(error = %error, "tick failed, answering from what is known");
            metrics::counter!("waiting_room_failed_ticks_total").increment(1);
        }
    }
}

async fn tick_all(app: &App) -> Result<(), RedisError> {
    let events = app.store.events().await?;
    let ticks = join_all(events.iter().map(|event| tick(app, event))).await;
    ticks.into_iter().collect()
}

/// Looks at one room, calls people if there is room for them, and remembers what it saw.
pub(crate) async fn tick(app: &App, event: &EventId) -> Result<(), RedisError> {
    let before = app.rooms.get(event);
    let (seen_serving, people) = before.as_deref().map_or((0, 0), call);
    let Some(snapshot) = app.store.tick(event, seen_serving, people).await? else {
        return Ok(());
    };
    let room = Room::after(before.as_deref(), snapshot)?;
    report(event, &room);
    app.rooms.set(event.clone(), Arc::new(room));
    Ok(())
}

fn call(room: &Room) -> (u64, u64) {
    let (settings, seen) = (&room.settings, &room.snapshot);
    let people = match seen.mode {
        Mode::Open | Mode::Draining => people_to_call(
            settings.admission_rate_per_minute,
            settings.max_active_sessions,
            seen.active,
            seen.called,
        ),
        Mode::PreQueue | Mode::Paused | Mode::Closed => 0,
    };
    (seen.serving, people)
}

#[expect(clippy::cast_precision_loss, reason = "a gauge of people is exact up to 2^53 of them")]
fn report(event: &EventId, room: &Room) {
    let gauge = |name: &'static str, value: u64| {
        metrics::gauge!(name, "event" => event.to_string()).set(value as f64);
    };
    gauge("waiting_room_waiting", room.snapshot.waiting);
    gauge("waiting_room_called", room.snapshot.called);
    gauge("waiting_room_active_sessions", room.snapshot.active);
    gauge("waiting_room_serving", room.snapshot.serving);
    gauge("waiting_room_last_number", room.snapshot.last_number);
    metrics::counter!("waiting_room_tokens_total", "event" => event.to_string())
        .absolute(room.snapshot.tokens_total);
}

/// Writes gathered heartbeats until shutdown, and once more then.
pub async fn write_heartbeats_until(app: Arc<App>, shutdown: CancellationToken) {
    let mut writes = interval(HEARTBEAT_WRITE_INTERVAL);
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
        for step in people.chunks(HEARTBEATS_IN_A_STEP) {
            if let Err(error) = app.store.heartbeats(&event, step).await {
                // Two grace periods pass before anybody counts as absent; the next one will do.
                tracing::warn!(error = %error, people = step.len(), "heartbeats not written");
            }
        }
    }
}
