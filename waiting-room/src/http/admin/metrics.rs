//! `GET /v1/admin/events/{event}/metrics` and `…/metrics/stream`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{self, StreamExt};
use serde::Serialize;
use shared::ids::EventId;
use shared::problem::Path;

use crate::app::App;
use crate::error::{Error, no_event};
use crate::queue::{EstimatedWait, Mode};
use crate::rooms::Room;

const STREAM_INTERVAL: Duration = Duration::from_secs(1);

/// A room's figures at one moment.
#[derive(Serialize)]
struct MetricsBody {
    at_ms: u64,
    status: Mode,
    reason: &'static str,
    waiting: u64,
    standing_at_gate: u64,
    on_their_way: u64,
    show_share: f64,
    active_sessions: u64,
    max_active_sessions: u64,
    admission_rate_per_minute: u64,
    effective_rate_per_minute: u64,
    serving: u64,
    last_number: u64,
    called_total: u64,
    tokens_total: u64,
    estimated_wait_seconds: Option<EstimatedWait>,
    checkout_queue_delay_ms: u64,
    stock_left: Option<u64>,
    stock_held: Option<u64>,
    stale: bool,
}

/// 200 with this node's view, at most 250 ms old.
pub(crate) async fn metrics(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Error> {
    let room = app.rooms.get(&event).ok_or_else(no_event)?;
    Ok(axum::Json(body(&room)))
}

/// 200 with the same once a second, as server-sent events.
pub(crate) async fn metrics_stream(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Error> {
    app.rooms.get(&event).ok_or_else(no_event)?;
    let shutdown = app.shutdown.clone();
    let mut seconds = tokio::time::interval(STREAM_INTERVAL);
    seconds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let events = stream::unfold((app, event, seconds), |(app, event, mut seconds)| async move {
        seconds.tick().await;
        let room = app.rooms.get(&event)?;
        let text = serde_json::to_string(&body(&room)).ok()?;
        Some((
            Ok::<_, Infallible>(Event::default().event("metrics").data(text)),
            (app, event, seconds),
        ))
    });
    Ok(Sse::new(events.take_until(shutdown.cancelled_owned())).keep_alive(KeepAlive::default()))
}

fn body(room: &Room) -> MetricsBody {
    let (settings, now) = (&room.settings, &room.snapshot);
    MetricsBody {
        at_ms: now.now_ms,
        status: now.mode,
        reason: room.reason(),
        waiting: now.waiting,
        standing_at_gate: now.standing,
        on_their_way: now.on_their_way,
        show_share: room.pace().show_share(),
        active_sessions: now.active,
        max_active_sessions: settings.max_active_sessions,
        admission_rate_per_minute: settings.admission_rate_per_minute,
        effective_rate_per_minute: now.rate_effective,
        serving: now.serving,
        last_number: now.last_number,
        called_total: now.called_total,
        tokens_total: now.tokens_total,
        estimated_wait_seconds: room.estimate(now.waiting),
        checkout_queue_delay_ms: now.pressure_ms,
        stock_left: now.stock_left,
        stock_held: now.stock_held,
        stale: room.is_stale(),
    }
}
