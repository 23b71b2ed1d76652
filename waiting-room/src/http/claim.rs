//! `POST /v1/events/{event}/admission`: through the gate, with a token.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use shared::admission::AdmissionClaims;
use shared::problem::{Code, Problem};
use time::OffsetDateTime;
use uuid::Uuid;

use super::answer::personal;
use super::place::turn_is_over;
use super::visitor::Visitor;
use crate::app::App;
use crate::error::{Error, no_event};
use crate::store::{Admission, Claimed};

#[derive(Serialize)]
struct AdmissionBody {
    admission_token: String,
    #[serde(with = "time::serde::rfc3339")]
    expires_at: OffsetDateTime,
    checkout_url: String,
}

/// 201 with the token the first time, 200 with the very same one after that.
pub(crate) async fn claim(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, Error> {
    let kid = app.issuer.current_kid();
    match app.store.claim(&visitor.event, visitor.person, Uuid::now_v7(), kid).await? {
        Claimed::Issued(admission) => admitted(&app, visitor, &admission, StatusCode::CREATED),
        Claimed::Again(admission) => admitted(&app, visitor, &admission, StatusCode::OK),
        Claimed::GateFull { reason, wait_ms } => Err(gate_full(&reason, wait_ms).into()),
        Claimed::NotCalled => {
            Err(Problem::new(Code::NotReady, "You have not been called yet.").into())
        }
        Claimed::Missed => Err(Problem::new(
            Code::Missed,
            "You were called and did not come in time. Your number is kept: join again with your \
             ticket to be called again.",
        )
        .into()),
        Claimed::Over => Err(turn_is_over().into()),
        Claimed::NoRoom => Err(no_event()),
    }
}

fn admitted(
    app: &App,
    visitor: Visitor,
    admission: &Admission,
    status: StatusCode,
) -> Result<Response, Error> {
    let Visitor { event, room, ticket, .. } = visitor;
    let times = (admission.iat, admission.exp);
    let claims: AdmissionClaims =
        app.issuer.claims(ticket.sub, event, ticket.number, admission.jti, times);
    let body = AdmissionBody {
        admission_token: app.issuer.sign(&claims, &admission.kid)?,
        expires_at: expiry(admission.exp)?,
        checkout_url: room.settings.checkout_url.clone(),
    };
    Ok(personal((status, Json(body)).into_response()))
}

fn expiry(exp: u64) -> Result<OffsetDateTime, Problem> {
    i64::try_from(exp)
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok())
        .ok_or_else(Problem::internal)
}

fn gate_full(reason: &str, wait_ms: u64) -> Problem {
    let detail = match reason {
        "rate" => "You are next. People are let in at a steady rate.",
        "cap" => "You are next, as soon as somebody leaves the checkout.",
        "paused" => "Nobody is let in at the moment. You stay called.",
        "closed" => "The waiting room is closed.",
        _ => "Nobody is let in yet. You stay called.",
    };
    // Somebody may leave long before the first lease ends.
    let seconds = wait_ms.div_ceil(1_000).min(5);
    Problem::new(Code::NotReady, detail).retry_after_seconds(seconds)
}
