//! `POST /v1/events/{event}/admission`: through the gate, with a token.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use shared::admission::{AdmissionClaims, Issuer};
use shared::problem::{Code, Problem};
use shared::problems;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::answer::personal;
use super::place::turn_is_over;
use super::visitor::Visitor;
use crate::app::App;
use crate::error::{Error, no_event};
use crate::queue::OnStoreError;
use crate::store::{Admission, Claimed, OwnToken};

problems!(ClaimProblems: NotFound, NotReady, SoldOut, Missed);

/// The way into the checkout.
#[derive(Serialize, ToSchema)]
#[schema(as = Admission)]
pub(crate) struct AdmissionBody {
    /// A signed token (JWT, EdDSA) that the checkout takes as `Authorization: Bearer`.
    #[schema(example = "eyJhbGciOiJFZERTQSIs…")]
    pub(crate) admission_token: String,
    /// Until when the token is good.
    #[serde(with = "time::serde::rfc3339")]
    expires_at: OffsetDateTime,
    /// Where to go on to.
    #[schema(example = "https://shop.example/checkout")]
    pub(crate) checkout_url: String,
}

/// 201 with the token the first time, 200 with the very same one after that.
///
/// As soon as the status is `ready`, while `seconds_left` last. `not_ready` with `Retry-After` means called,
/// and the gate is full for a moment; without it, not called yet. After `missed` one joins again.
#[utoipa::path(
    post,
    path = "",
    tag = "Queue",
    summary = "Claim my admission",
    security(("queue_ticket" = []), ("queue_cookie" = [])),
    responses(
        (status = 201, description = "Admitted.", body = AdmissionBody),
        (status = 200, description = "Admitted before: the very same token.", body = AdmissionBody),
        ClaimProblems,
    ),
)]
pub(crate) async fn claim(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, Error> {
    let (status, body) = admission(&app, visitor).await?;
    Ok(personal((status, Json(body)).into_response()))
}

/// The admission, and whether it is new.
pub(crate) async fn admission(
    app: &App,
    visitor: Visitor,
) -> Result<(StatusCode, AdmissionBody), Error> {
    let issuer = app.issuer.current();
    let jti = Uuid::now_v7();
    let claimed = if visitor.is_without_place() {
        without_place(&visitor, jti, issuer.current_kid())?
    } else {
        app.store.claim(&visitor.event, visitor.person, jti, issuer.current_kid()).await?
    };
    match claimed {
        Claimed::Issued { admission, issued_ms } => {
            let number = visitor.person.number;
            if number != 0 {
                let token = OwnToken { number, issued_ms, admission: admission.clone() };
                visitor.room.own.issued(token);
            }
            admitted(&issuer, visitor, &admission, StatusCode::CREATED)
        }
        Claimed::Again(admission) => admitted(&issuer, visitor, &admission, StatusCode::OK),
        Claimed::SoldOut => Err(Problem::new(Code::SoldOut, "Everything is sold.").into()),
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

/// Somebody who was let in without a place, as long as the store does not answer and the operator wants
/// it so. By this node's clock: there is no other.
fn without_place(visitor: &Visitor, jti: Uuid, kid: &str) -> Result<Claimed, Error> {
    let settings = &visitor.room.settings;
    if settings.on_store_error == OnStoreError::Closed || !visitor.room.is_stale() {
        // The store is back: now he can have a place.
        return Ok(Claimed::Over);
    }
    let iat = u64::try_from(OffsetDateTime::now_utc().unix_timestamp()).unwrap_or_default();
    let exp = iat + settings.session_duration_seconds;
    let admission = Admission { jti, kid: kid.to_owned(), iat, exp };
    Ok(Claimed::Issued { admission, issued_ms: iat * 1_000 })
}

fn admitted(
    issuer: &Issuer,
    visitor: Visitor,
    admission: &Admission,
    status: StatusCode,
) -> Result<(StatusCode, AdmissionBody), Error> {
    let Visitor { event, room, ticket, .. } = visitor;
    let times = (admission.iat, admission.exp);
    let claims: AdmissionClaims =
        issuer.claims(ticket.sub, event, ticket.number, admission.jti, times);
    let body = AdmissionBody {
        admission_token: issuer.sign(&claims, &admission.kid)?,
        expires_at: expiry(admission.exp)?,
        checkout_url: room.settings.checkout_url.clone(),
    };
    Ok((status, body))
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
        "restoring" => "One moment: the waiting room is being restored. You stay called.",
        _ => "Nobody is let in yet. You stay called.",
    };
    // Somebody may leave long before the first lease ends.
    let seconds = wait_ms.div_ceil(1_000).min(5);
    Problem::new(Code::NotReady, detail).retry_after_seconds(seconds)
}
