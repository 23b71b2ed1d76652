//! `GET /v1/events/{event}/queue`: my place. Out of memory while one waits.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;
use shared::problem::{Code, Problem};
use shared::problems;

use super::answer::{PlaceBody, personal, place_of};
use super::cookie;
use super::visitor::Visitor;
use crate::app::App;
use crate::error::Error;

problems!(PlaceProblems: NotFound, Missed, RateLimited);

/// 200 with my place; 410 `missed` when the turn is over for good and only a new join helps; 429 when
/// it is asked for much earlier than told.
///
/// `missed` as a status has a way back, join again; `missed` as a problem means that the turn is over for
/// good and a new join gets a new number.
#[utoipa::path(
    get,
    path = "",
    tag = "Queue",
    summary = "My place",
    security(("queue_ticket" = []), ("queue_cookie" = [])),
    responses(
        (
            status = 200, description = "Where I stand.", body = PlaceBody,
            headers(("Set-Cookie" = String, description = "When the ticket came in the cookie and `users_ahead` has changed: the new ticket.")),
        ),
        PlaceProblems,
    ),
)]
pub(crate) async fn place(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, Error> {
    let Some(body) = place_of(&app, &visitor).await? else { return Err(turn_is_over().into()) };
    if let Err(left_ms) = visitor.room.polls.admit(visitor.person.number, body.poll_after_ms) {
        return Err(too_early(left_ms).into());
    }
    app.presence.note_poll(&visitor.event, visitor.person, body.poll_after_ms);
    let changed = body.users_ahead != visitor.ticket.ahead.unwrap_or(u64::MAX);
    let mut answer = personal(Json(&body));
    if changed && visitor.has_cookie {
        let cookie = cookie::set(&app, &visitor.event, &body.ticket)?;
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(answer.into_response())
}

/// 410: the session has ended, or the place was given up.
pub(crate) fn turn_is_over() -> Problem {
    Problem::new(Code::Missed, "This turn is over. Join again for a new place.")
}

fn too_early(left_ms: u64) -> Problem {
    Problem::new(Code::RateLimited, "You asked much earlier than poll_after_ms said.")
        .retry_after_seconds(left_ms.div_ceil(1_000))
}
