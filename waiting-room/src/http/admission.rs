//! `GET /v1/events/{event}/admission`: whether an admission token is good, for a proxy that asks.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use shared::admission::Rejected;
use shared::ops::bearer;
use shared::problem::{Code, Problem};
use shared::problems;

use super::answer::personal;
use super::visitor::InRoom;
use crate::app::App;
use crate::error::Error;

problems!(AdmissionProblems: NotFound, InvalidToken, NotAdmitted);

/// 204 while the token is good for this event, with `x-admission-subject` and `x-admission-number`; 401 when
/// it is missing, forged or over; 403 when it is another event's.
///
/// Made for nginx' `auth_request`, which knows these three. It needs no store: a session that has ended
/// early is good here until its token is over, and the checkout alone refuses it before.
#[utoipa::path(
    get,
    path = "",
    tag = "Room",
    summary = "Is this admission good?",
    security(("admission" = [])),
    responses(
        (
            status = 204, description = "It is.",
            headers(
                ("x-admission-subject" = String, description = "The person, as the token names him."),
                ("x-admission-number" = u64, description = "His queue number."),
            ),
        ),
        AdmissionProblems,
    ),
)]
pub(crate) async fn admission(
    State(app): State<Arc<App>>,
    InRoom { event, .. }: InRoom,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let token =
        bearer(&headers).ok_or_else(|| invalid("Send the token as Authorization: Bearer."))?;
    let claims = app.issuer.verifier().verify(token).await.map_err(|rejected| match rejected {
        Rejected::Invalid => invalid("The token is not valid, or not any more."),
        Rejected::NoKeys => Problem::unavailable(),
    })?;
    if claims.event != event {
        let detail = "The token is good, and for another event.";
        return Err(Problem::new(Code::NotAdmitted, detail).into());
    }
    let person = [
        ("x-admission-subject", claims.sub.to_string()),
        ("x-admission-number", claims.number.to_string()),
    ];
    Ok(personal((StatusCode::NO_CONTENT, person).into_response()))
}

fn invalid(detail: &'static str) -> Problem {
    Problem::new(Code::InvalidToken, detail)
}
