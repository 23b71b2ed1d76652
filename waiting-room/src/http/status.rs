//! `GET /v1/events/{event}/status`: the public view, the same bytes for everybody.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use shared::ids::EventId;
use shared::problems;
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::visitor::InRoom;
use crate::queue::{EstimatedWait, Mode, QueueingMethod};
use crate::rooms::Room;

problems!(StatusProblems: NotFound);

/// A waiting room, as everybody may see it.
#[derive(Serialize, ToSchema)]
#[schema(as = RoomStatus)]
pub(crate) struct StatusBody<'a> {
    event: &'a EventId,
    /// What people see.
    #[schema(example = "A concert")]
    name: &'a str,
    status: Mode,
    queueing_method: QueueingMethod,
    /// Everybody whose rank is at or below it has been called.
    #[schema(example = 1_200)]
    serving: u64,
    /// The last queue number given out; 0 before the first.
    #[schema(example = 5_400)]
    last_number: u64,
    /// People who are there and have not been called.
    #[schema(example = 3_900)]
    waiting: u64,
    /// How many are there, each count for `stretch` ranks behind `serving`: from this and his rank
    /// everybody can tell how many are ahead of him.
    #[schema(example = 4_096)]
    stretch: u64,
    #[schema(example = json!([3_200, 700]))]
    there_by_stretch: &'a [u64],
    /// The wait of somebody who joined now; `null` while nothing can be said.
    #[schema(required = true)]
    estimated_wait_seconds: Option<EstimatedWait>,
    /// People let in per minute at most, as the operator has set it.
    #[schema(example = 600)]
    admission_rate_per_minute: u64,
    /// The same as it is now: lower while the checkout is busy.
    #[schema(example = 600)]
    effective_rate_per_minute: u64,
    /// Why people are called as fast as they are: `configured_rate`, `checkout_busy`,
    /// `checkout_full`, `all_in_baskets`, or the status when nobody is called.
    #[schema(example = "configured_rate")]
    reason: &'static str,
    /// When people are let in for the first time.
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required = true)]
    opens_at: Option<OffsetDateTime>,
    /// From when on people may join, when that is not at once.
    #[serde(with = "time::serde::rfc3339::option")]
    #[schema(required = true)]
    pre_queue_at: Option<OffsetDateTime>,
    /// The moment of this view, by the store's clock: to count down by, whatever a phone's clock says.
    #[serde(with = "time::serde::rfc3339")]
    at: OffsetDateTime,
    /// What the operator tells everybody who waits; `null` when it is nothing.
    #[schema(required = true, example = "Doors open an hour later.")]
    message: Option<&'a str>,
    /// The store has not answered for a second; this is what was known before.
    stale: bool,
}

/// 200, cacheable for a second; 304 to whoever has it already.
///
/// A CDN can answer it: everybody tells from it and from his own rank how many are ahead of him.
#[utoipa::path(
    get,
    path = "",
    tag = "Room",
    summary = "A room's public status",
    params(("If-None-Match" = Option<String>, Header, description = "The `ETag` of the status one has.")),
    responses(
        (
            status = 200, description = "The same bytes for everybody.", body = StatusBody,
            headers(
                ("ETag" = String, description = "Names this view, the same on every node."),
                ("Cache-Control" = String, description = "`public, max-age=1`"),
            ),
        ),
        (status = 304, description = "Nothing has changed."),
        StatusProblems,
    ),
)]
pub(crate) async fn status(InRoom { event, room }: InRoom, headers: HeaderMap) -> Response {
    let tag = tag(&room);
    let fixed = [
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=1")),
        (header::ETAG, tag.clone()),
    ];
    let has_it = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == tag);
    if has_it {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    (fixed, Json(body(&event, &room))).into_response()
}

/// A view is named by the moment of the store at which it was taken, the same on all nodes that have
/// seen the same.
fn tag(room: &Room) -> HeaderValue {
    let text = format!(
        "\"{:x}-{:x}-{}\"",
        room.snapshot.epoch,
        room.snapshot.now_ms,
        u8::from(room.is_stale())
    );
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("\"\""))
}

pub(crate) fn body<'a>(event: &'a EventId, room: &'a Room) -> StatusBody<'a> {
    let (settings, now) = (&room.settings, &room.snapshot);
    StatusBody {
        event,
        name: &settings.name,
        status: now.mode,
        queueing_method: settings.queueing_method,
        serving: now.serving,
        last_number: now.last_number,
        waiting: now.waiting,
        stretch: now.stretch,
        there_by_stretch: &now.there_by_stretch,
        estimated_wait_seconds: room.estimate(now.waiting),
        admission_rate_per_minute: settings.admission_rate_per_minute,
        effective_rate_per_minute: now.rate_effective,
        reason: room.reason(),
        opens_at: settings.opens_at,
        pre_queue_at: settings.pre_queue_at,
        at: moment(now.now_ms),
        message: settings.message.as_deref(),
        stale: room.is_stale(),
    }
}

/// Milliseconds since the Unix epoch as a time.
pub(crate) fn moment(ms: u64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
