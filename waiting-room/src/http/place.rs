//! `GET /v1/events/{event}/queue`: my place. Out of memory while one waits.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use shared::problem::{Code, Problem};

use super::answer::{personal, place_of};
use super::visitor::Visitor;
use crate::app::App;
use crate::error::Error;

/// 200 with my place; 410 `missed` when the turn is over for good and only a new join helps.
pub(crate) async fn place(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, Error> {
    let ticket = app.tickets.sign(&visitor.ticket)?;
    match place_of(&app, &visitor, ticket).await? {
        Some(body) => Ok(personal(Json(body))),
        None => Err(turn_is_over().into()),
    }
}

/// 410: the session has ended, or the place was given up.
pub(crate) fn turn_is_over() -> Problem {
    Problem::new(Code::Missed, "This turn is over. Join again for a new place.")
}
