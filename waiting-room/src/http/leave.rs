//! `DELETE /v1/events/{event}/queue`: give the place up.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use shared::problems;

use super::answer::personal;
use super::cookie;
use super::visitor::Visitor;
use crate::app::App;
use crate::error::Error;

problems!(LeaveProblems: NotFound);

/// 204; the next join gets a new number.
///
/// The ticket is worth nothing after this: the next join gets a new number.
#[utoipa::path(
    delete,
    path = "",
    tag = "Queue",
    summary = "Give my place up",
    security(("queue_ticket" = []), ("queue_cookie" = [])),
    responses(
        (
            status = 204, description = "Given up.",
            headers(("Set-Cookie" = String, description = "Takes the ticket away.")),
        ),
        LeaveProblems,
    ),
)]
pub(crate) async fn leave(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, Error> {
    let cookie = give_up(&app, &visitor).await?;
    Ok(personal((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()))
}

/// Gives a place up; the answer is the cookie that takes the ticket away.
pub(crate) async fn give_up(app: &App, visitor: &Visitor) -> Result<HeaderValue, Error> {
    app.store.leave(&visitor.event, visitor.person).await?;
    visitor.room.own.left(visitor.person.number);
    Ok(cookie::clear(app, &visitor.event)?)
}
