//! The answer about one person's place, as join, "my place" and the stream give it.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::Serialize;
use utoipa::ToSchema;

use super::visitor::Visitor;
use crate::app::App;
use crate::error::Error;
use crate::queue::{EstimatedWait, Mode, Person, Position, QueueingMethod, Ticket, position};
use crate::rooms::Room;
use crate::store::Standing;

/// How often a page shows that it is there.
const HEARTBEAT_AFTER_MS: u64 = 45_000;
const POLL_AFTER_MS_MIN: u64 = 1_000;
const POLL_AFTER_MS_MAX: u64 = 15_000;
const POLL_AFTER_MS_CALLED: u64 = 2_000;
const POLL_AFTER_MS_UNKNOWN: u64 = 3_000;

/// Where a person stands.
///
/// `pre_queue`: before the opening · `waiting` · `ready`: claim now · `admitted` · `missed`: was called and
/// did not come, join again to be called again · `sold_out` · `closed` · `paused`: nobody is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = PlaceStatus)]
pub(crate) enum Status {
    PreQueue,
    Waiting,
    Ready,
    Admitted,
    Missed,
    SoldOut,
    Closed,
    Paused,
}

/// A person's place.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Place)]
pub(crate) struct PlaceBody {
    /// The ticket to send from now on: it also remembers what was shown.
    #[schema(example = "eyJ0eXAiOiJxdWV1ZS10aWNrZXQi…")]
    pub(crate) ticket: String,
    pub(crate) status: Status,
    /// The queue number: given once, it never changes. 0 when people are let through without a place.
    #[schema(example = 4_711)]
    pub(crate) number: u64,
    /// How many people who are there stand before this one. It never rises while one stays.
    #[schema(example = 1_203)]
    pub(crate) users_ahead: u64,
    /// The wait, as people are called now; `null` while nothing can be said.
    #[schema(required = true)]
    pub(crate) estimated_wait_seconds: Option<EstimatedWait>,
    /// Why people are called as fast as they are: see the public status.
    #[schema(example = "configured_rate")]
    pub(crate) reason: &'static str,
    /// Seconds left to claim while `ready`, or of the session while `admitted`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) seconds_left: Option<u64>,
    /// When to ask for the place again, in milliseconds from now; under half of it is answered 429.
    #[schema(example = 3_000)]
    pub(crate) poll_after_ms: u64,
    /// When to send the next heartbeat, in milliseconds from now.
    #[schema(example = 45_000)]
    pub(crate) heartbeat_after_ms: u64,
    /// Counts changes of the room's settings: when it has changed, the public status says something new.
    #[schema(example = 3)]
    pub(crate) room_version: u64,
    /// The store has not answered for a while; this is what was known before.
    pub(crate) stale: bool,
}

/// Where somebody stands. People who are not called are answered from memory; who is called or in the
/// priority lane, and they are few, is looked up. `None` when his turn is over for good.
pub(crate) async fn place_of(app: &App, visitor: &Visitor) -> Result<Option<PlaceBody>, Error> {
    let (room, person) = (&*visitor.room, visitor.person);
    if visitor.is_without_place() {
        // Good only as long as nobody can be given a place.
        let ready = room.is_stale().then(|| body(app, visitor, Status::Ready, 0));
        return ready.transpose();
    }
    let from_memory = !visitor.ticket.priority
        && room.settings.queueing_method != QueueingMethod::Passthrough
        && matches!(position(person.rank, room.snapshot.serving), Position::Waiting { .. });
    if from_memory {
        return waiting(app, visitor, room.users_ahead(person.rank)).map(Some);
    }
    let place = app.store.place(&visitor.event, person).await?;
    let status = match place.place {
        Standing::Over => return Ok(None),
        Standing::Admitted => Status::Admitted,
        Standing::Waiting => {
            let ahead = place.lane_ahead.unwrap_or_else(|| room.users_ahead(person.rank));
            return waiting(app, visitor, ahead).map(Some);
        }
        Standing::Ready | Standing::Missed => match shut(room.snapshot.mode) {
            Some(status) => status,
            None if place.place == Standing::Ready => Status::Ready,
            None => Status::Missed,
        },
    };
    let mut body = body(app, visitor, status, 0)?;
    if matches!(status, Status::Ready | Status::Admitted) {
        body.seconds_left = Some(place.left_ms / 1_000);
    }
    Ok(Some(body))
}

/// The place of somebody who is not called yet.
pub(crate) fn waiting(app: &App, visitor: &Visitor, ahead: u64) -> Result<PlaceBody, Error> {
    let room = &*visitor.room;
    let status = match room.snapshot.mode {
        Mode::Scheduled | Mode::PreQueue => Status::PreQueue,
        mode => shut(mode).unwrap_or(Status::Waiting),
    };
    // Before a draw nobody is ahead of anybody.
    let drawn_later =
        status == Status::PreQueue && room.settings.queueing_method == QueueingMethod::Random;
    let ahead = if drawn_later { 0 } else { ahead };
    let mut body = body(app, visitor, status, ahead)?;
    if status == Status::Waiting {
        body.estimated_wait_seconds = room.estimate(ahead);
        // An hour's wait needs no poll a second: a tenth of the wait, within bounds.
        let poll_after_ms =
            body.estimated_wait_seconds.map_or(POLL_AFTER_MS_UNKNOWN, |wait| wait.min * 100);
        let poll_after_ms = poll_after_ms.clamp(POLL_AFTER_MS_MIN, POLL_AFTER_MS_MAX);
        body.poll_after_ms = jittered(poll_after_ms, visitor.person);
    }
    Ok(body)
}

/// What keeps everybody waiting, if anything does.
fn shut(mode: Mode) -> Option<Status> {
    match mode {
        Mode::Paused => Some(Status::Paused),
        Mode::Closed => Some(Status::Closed),
        Mode::SoldOut => Some(Status::SoldOut),
        Mode::Scheduled | Mode::PreQueue | Mode::Open | Mode::Draining => None,
    }
}

fn body(app: &App, visitor: &Visitor, status: Status, ahead: u64) -> Result<PlaceBody, Error> {
    let (room, person) = (&*visitor.room, visitor.person);
    // Somebody ahead who was away and is back would make it rise: what he was told holds.
    let shown = matches!(status, Status::Waiting | Status::Paused);
    let users_ahead = match visitor.ticket.ahead {
        Some(told) if shown => told.min(ahead),
        _ => ahead,
    };
    let remembered = if shown { Some(users_ahead) } else { visitor.ticket.ahead };
    let ticket = Ticket { ahead: remembered, ..visitor.ticket.clone() };
    let poll_after_ms = match status {
        Status::Ready | Status::Admitted | Status::Missed => POLL_AFTER_MS_CALLED,
        Status::SoldOut | Status::Closed => POLL_AFTER_MS_MAX,
        Status::PreQueue | Status::Waiting | Status::Paused => POLL_AFTER_MS_UNKNOWN,
    };
    Ok(PlaceBody {
        ticket: app.tickets.sign(&ticket)?,
        status,
        number: person.number,
        users_ahead,
        estimated_wait_seconds: None,
        reason: room.reason(),
        seconds_left: None,
        poll_after_ms: jittered(poll_after_ms, person),
        heartbeat_after_ms: jittered(HEARTBEAT_AFTER_MS, person),
        room_version: room.snapshot.version,
        stale: room.is_stale(),
    })
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

impl Room {
    /// The wait of somebody with that many before him; `None` while nobody is being called.
    pub(crate) fn estimate(&self, users_ahead: u64) -> Option<EstimatedWait> {
        match self.snapshot.mode {
            Mode::Open | Mode::Draining => self.movement.estimate(users_ahead),
            _ => None,
        }
    }

    /// Why people are called as fast as they are.
    pub(crate) fn reason(&self) -> &'static str {
        let now = &self.snapshot;
        match now.mode {
            Mode::Open | Mode::Draining => {}
            mode => return mode.as_str(),
        }
        if now.stock_left == Some(0) {
            "all_in_baskets"
        } else if now.rate_effective < self.settings.admission_rate_per_minute {
            "checkout_busy"
        } else if now.active >= self.settings.max_active_sessions {
            "checkout_full"
        } else {
            "configured_rate"
        }
    }
}
