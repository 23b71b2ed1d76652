//! `GET /v1/events/{event}/status`: the public view, the same bytes for everybody.

use axum::Json;
use axum::response::IntoResponse;
use http::{HeaderValue, header};
use serde::Serialize;
use shared::ids::EventId;
use time::OffsetDateTime;

use super::visitor::InRoom;
use crate::queue::{EstimatedWait, Mode};
use crate::rooms::Room;

#[derive(Serialize)]
struct StatusBody<'a> {
    event: &'a EventId,
    name: &'a str,
    status: Mode,
    serving: u64,
    last_number: u64,
    waiting: u64,
    /// The wait of somebody who joined now.
    estimated_wait_seconds: Option<EstimatedWait>,
    admission_rate_per_minute: u64,
    #[serde(with = "time::serde::rfc3339::option")]
    opens_at: Option<OffsetDateTime>,
    stale: bool,
}

/// 200, cacheable for a second.
pub(crate) async fn status(InRoom { event, room }: InRoom) -> impl IntoResponse {
    let cache = (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=1"));
    ([cache], Json(body(&event, &room)).into_response())
}

fn body<'a>(event: &'a EventId, room: &'a Room) -> StatusBody<'a> {
    let (settings, now) = (&room.settings, &room.snapshot);
    let estimate = match now.mode {
        Mode::Open => room.movement.estimate(now.waiting),
        _ => None,
    };
    StatusBody {
        event,
        name: &settings.name,
        status: now.mode,
        serving: now.serving,
        last_number: now.last_number,
        waiting: now.waiting,
        estimated_wait_seconds: estimate,
        admission_rate_per_minute: settings.admission_rate_per_minute,
        opens_at: settings.opens_at,
        stale: room.is_stale(),
    }
}
