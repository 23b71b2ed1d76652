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
use shared::problems;
use utoipa::ToSchema;

use crate::app::App;
use crate::board::sample::view;
use crate::board::{Alarm, LastCalled, LastMinute, SaleBody};
use crate::error::{Error, no_event};
use crate::queue::{EstimatedWait, Mode};
use crate::rooms::Room;

const STREAM_INTERVAL: Duration = Duration::from_secs(1);

problems!(MetricsProblems: NotFound);

/// A room's figures at one moment.
#[derive(Serialize, ToSchema)]
#[schema(as = RoomMetrics)]
struct MetricsBody {
    /// The moment, by the store's clock, in milliseconds since the Unix epoch.
    at_ms: u64,
    status: Mode,
    /// Why people are called as fast as they are.
    #[schema(example = "configured_rate")]
    reason: &'static str,
    /// People who are there and have not been called.
    waiting: u64,
    /// Called people who have come and found the gate full.
    standing_at_gate: u64,
    /// Called people who have not come yet and still may.
    on_their_way: u64,
    /// The share of called people who come, 0 to 1, as it was measured.
    show_share: f64,
    /// Sessions at the moment.
    active_sessions: u64,
    /// Sessions at once at most.
    max_active_sessions: u64,
    /// People let in per minute at most, as the operator has set it.
    admission_rate_per_minute: u64,
    /// The same as it is now: lower while the checkout is busy.
    effective_rate_per_minute: u64,
    /// Everybody whose rank is at or below it has been called or passed over.
    serving: u64,
    /// The last queue number given out; 0 before the first.
    last_number: u64,
    /// People called in all.
    called_total: u64,
    /// Tokens issued in all.
    tokens_total: u64,
    /// The wait of somebody who joined now; `null` while nothing can be said.
    #[schema(required = true)]
    estimated_wait_seconds: Option<EstimatedWait>,
    /// How long the checkout makes people wait, in milliseconds.
    checkout_queue_delay_ms: u64,
    /// Places that nobody holds; `null` when no checkout has said so.
    #[schema(required = true)]
    stock_left: Option<u64>,
    /// Places that are held and not confirmed; `null` when no checkout has said so.
    #[schema(required = true)]
    stock_held: Option<u64>,
    /// The store has not answered for a second; this is what was known before.
    stale: bool,
    /// Counts changes of the settings.
    version: u64,
    last_minute: LastMinute,
    /// People called ten to seventy seconds ago, and
    cohort_called: u64,
    /// how many of them have been at the gate; the others have not come.
    cohort_came: u64,
    /// Who was called last; `null` when nobody was while this node looked.
    #[schema(required = true)]
    last_called: Option<LastCalled>,
    sale: SaleBody,
    /// Invariants and targets that are broken at this moment, the worst first.
    alarms: Vec<Alarm>,
}

/// 200 with this node's view, at most 250 ms old.
///
/// At most 250 ms old, unless `stale`.
#[utoipa::path(
    get,
    path = "",
    tag = "Rooms",
    operation_id = "room_metrics",
    summary = "A room's figures",
    responses((status = 200, description = "As this node sees them.", body = MetricsBody), MetricsProblems),
)]
pub(crate) async fn metrics(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Error> {
    let room = app.rooms.get(&event).ok_or_else(no_event)?;
    Ok(axum::Json(body(&app, &event, &room)))
}

/// 200 with the same once a second, as server-sent events.
#[utoipa::path(
    get,
    path = "",
    tag = "Rooms",
    operation_id = "room_metrics_stream",
    summary = "A room's figures, once a second",
    responses(
        (
            status = 200, description = "Server-sent events `metrics`, each with this as its data.",
            body = MetricsBody, content_type = "text/event-stream",
        ),
        MetricsProblems,
    ),
)]
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
        let text = serde_json::to_string(&body(&app, &event, &room)).ok()?;
        Some((
            Ok::<_, Infallible>(Event::default().event("metrics").data(text)),
            (app, event, seconds),
        ))
    });
    Ok(Sse::new(events.take_until(shutdown.cancelled_owned())).keep_alive(KeepAlive::default()))
}

fn body(app: &App, event: &EventId, room: &Room) -> MetricsBody {
    let (settings, now) = (&room.settings, &room.snapshot);
    let view = view(app, event, room);
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
        version: now.version,
        last_minute: view.last_minute,
        cohort_called: now.cohort_called,
        cohort_came: now.cohort_came,
        last_called: view.last_called,
        sale: view.sale,
        alarms: view.alarms,
    }
}
