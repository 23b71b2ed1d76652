//! The look at every room, four times a second.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use shared::ids::EventId;
use shared::redis::RedisError;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::recovery;
use crate::app::App;
use crate::rooms::Room;
use crate::store::{Snapshot, Tick};

/// How often every room is looked at: the bound on the age of what people are told.
const TICK_INTERVAL: Duration = Duration::from_millis(250);

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
    // Rooms that the list has lost are looked at all the same.
    let listed = app.store.events().await?;
    let events: BTreeSet<EventId> = listed.into_iter().chain(app.rooms.events()).collect();
    let ticks = join_all(events.iter().map(|event| tick(app, event))).await;
    ticks.into_iter().collect()
}

/// Looks at one room, calls people if the gate will let them through, and remembers what it saw.
pub(crate) async fn tick(app: &App, event: &EventId) -> Result<(), RedisError> {
    let before = app.rooms.get(event);
    // What is known before the question: the answer must not be behind it.
    let last_number =
        before.as_ref().map_or(0, |room| room.snapshot.last_number.max(room.own.last_number()));
    let call = before.as_deref().map(call).unwrap_or_default();
    let mut snapshot = app.store.tick(event, call).await?;
    if let Some(room) = &before {
        let lost = snapshot.as_ref().is_none_or(|now| room.is_behind(last_number, now));
        if lost {
            recovery::restore(app, event, room, last_number, snapshot.as_ref()).await?;
            snapshot = app.store.tick(event, Tick::default()).await?;
        }
        if snapshot.as_ref().is_some_and(|now| now.epoch != room.snapshot.epoch) {
            recovery::remember(app, event, room).await?;
        }
    }
    let Some(snapshot) = snapshot else { return Ok(()) };
    let room = app.rooms.see(event, snapshot)?;
    report(event, &room);
    log_changes(event, before.as_deref(), &room.snapshot);
    Ok(())
}

fn call(room: &Room) -> Tick {
    let (now, pace) = (&room.snapshot, room.pace());
    let call = pace.call();
    Tick {
        seen_called: now.called_total,
        people: call.people,
        called_until_ms: now.now_ms - pace.elapsed_ms.saturating_sub(call.covered_ms),
    }
}

fn log_changes(event: &EventId, before: Option<&Room>, now: &Snapshot) {
    let Some(before) = before.map(|room| &room.snapshot) else { return };
    if before.mode != now.mode {
        tracing::info!(event = %event, from = before.mode.as_str(), to = now.mode.as_str(), "mode changed");
    }
    if before.rate_effective != now.rate_effective {
        tracing::info!(
            event = %event,
            from_per_minute = before.rate_effective,
            to_per_minute = now.rate_effective,
            pressure_ms = now.pressure_ms,
            "effective rate changed"
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "a gauge of people is exact up to 2^53 of them")]
fn report(event: &EventId, room: &Room) {
    let now = &room.snapshot;
    let gauge = |name: &'static str, value: u64| {
        metrics::gauge!(name, "event" => event.to_string()).set(value as f64);
    };
    gauge("waiting_room_waiting", now.waiting);
    gauge("waiting_room_standing_at_gate", now.standing);
    gauge("waiting_room_active_sessions", now.active);
    gauge("waiting_room_active_sessions_max", room.settings.max_active_sessions);
    gauge("waiting_room_serving", now.serving);
    gauge("waiting_room_last_number", now.last_number);
    gauge("waiting_room_rate_configured", room.settings.admission_rate_per_minute);
    gauge("waiting_room_rate_effective", now.rate_effective);
    gauge("waiting_room_checkout_queue_delay_ms", now.pressure_ms);
    metrics::counter!("waiting_room_tokens_total", "event" => event.to_string())
        .absolute(now.tokens_total);
    metrics::counter!("waiting_room_called_total", "event" => event.to_string())
        .absolute(now.called_total);
}
