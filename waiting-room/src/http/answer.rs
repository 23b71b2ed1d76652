//! The answer about one person's place, as join and "my place" give it.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::Serialize;

use crate::app::App;
use crate::error::Error;
use crate::queue::{EstimatedWait, Mode, Person, Position, position};
use crate::rooms::Room;
use crate::store::Standing;

use super::visitor::Visitor;

/// How often a page shows that it is there.
const HEARTBEAT_AFTER_MS: u64 = 45_000;
const POLL_AFTER_MS_MIN: u64 = 1_000;
const POLL_AFTER_MS_MAX: u64 = 15_000;

/// What a person can be told about himself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    PreQueue,
    Waiting,
    Ready,
    Admitted,
    Missed,
    Closed,
    Paused,
}

/// A person's place.
#[derive(Debug, Serialize)]
pub(crate) struct PlaceBody {
    pub(crate) ticket: String,
    pub(crate) status: Status,
    pub(crate) number: u64,
    pub(crate) users_ahead: u64,
    pub(crate) estimated_wait_seconds: Option<EstimatedWait>,
    /// Seconds left to claim while `ready`, or of the session while `admitted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seconds_left: Option<u64>,
    pub(crate) poll_after_ms: u64,
    pub(crate) heartbeat_after_ms: u64,
    /// The store has not answered for a while; this is what was known before.
    pub(crate) stale: bool,
}

/// Where somebody stands. People who are not called are answered from memory; who is called, and
/// they are few, is looked up. `None` when his turn is over for good.
pub(crate) async fn place_of(
    app: &App,
    visitor: &Visitor,
    ticket: String,
) -> Result<Option<PlaceBody>, Error> {
    let (room, person) = (&*visitor.room, visitor.person);
    if let Position::Waiting { users_ahead } = position(person.rank, room.snapshot.serving) {
        return Ok(Some(waiting(room, person, users_ahead, ticket)));
    }
    let place = app.store.place(&visitor.event, person).await?;
    let status = match place.place {
        Standing::Over => return Ok(None),
        Standing::Admitted => Status::Admitted,
        _ if room.snapshot.mode == Mode::Paused => Status::Paused,
        _ if room.snapshot.mode == Mode::Closed => Status::Closed,
        // This node's view is ahead of the store's only for a moment after a failover.
        Standing::Waiting => return Ok(Some(waiting(room, person, 0, ticket))),
        Standing::Ready => Status::Ready,
        Standing::Missed => Status::Missed,
    };
    let timed = matches!(status, Status::Ready | Status::Admitted);
    Ok(Some(PlaceBody {
        ticket,
        status,
        number: person.number,
        users_ahead: 0,
        estimated_wait_seconds: None,
        seconds_left: timed.then_some(place.left_ms / 1_000),
        poll_after_ms: jittered(2 * POLL_AFTER_MS_MIN, person),
        heartbeat_after_ms: jittered(HEARTBEAT_AFTER_MS, person),
        stale: room.is_stale(),
    }))
}

/// The place of somebody who is not called yet.
pub(crate) fn waiting(room: &Room, person: Person, users_ahead: u64, ticket: String) -> PlaceBody {
    let status = match room.snapshot.mode {
        Mode::PreQueue => Status::PreQueue,
        Mode::Open | Mode::Draining => Status::Waiting,
        Mode::Paused => Status::Paused,
        Mode::Closed => Status::Closed,
    };
    let estimate = match status {
        Status::Waiting => room.movement.estimate(users_ahead),
        _ => None,
    };
    // An hour's wait needs no poll a second: a tenth of the wait, within bounds.
    let poll_after_ms = estimate.map_or(2 * POLL_AFTER_MS_MIN, |wait| wait.min * 100);
    let poll_after_ms = poll_after_ms.clamp(POLL_AFTER_MS_MIN, POLL_AFTER_MS_MAX);
    PlaceBody {
        ticket,
        status,
        number: person.number,
        users_ahead,
        estimated_wait_seconds: estimate,
        seconds_left: None,
        poll_after_ms: jittered(poll_after_ms, person),
        heartbeat_after_ms: jittered(HEARTBEAT_AFTER_MS, person),
        stale: room.is_stale(),
    }
}

/// Spreads people over a quarter more than the interval, by their number, so that those who came
/// in the same moment do not come back in the same moment.
fn jittered(interval_ms: u64, person: Person) -> u64 {
    const STEPS: u64 = 64;
    // Fibonacci hashing (Knuth, TAOCP 6.4): neighbours land far apart.
    let step = person.number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58;
    interval_ms + interval_ms * step / (4 * STEPS)
}

/// A personal answer: no cache may keep it.
pub(crate) fn personal(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
