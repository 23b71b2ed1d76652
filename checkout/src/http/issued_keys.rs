//! `POST /v1/idempotency-keys`, and whether a request's key is taken.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use shared::admission::AdmissionClaims;
use shared::ids::Subject;
use shared::problem::Problem;
use shared::problems;
use utoipa::ToSchema;

use crate::answer::Outcome;
use crate::app::App;
use crate::clock;
use crate::sale::issued_key::Checked;
use crate::sale::receipt::wire_time;
use crate::store::idempotency::Keyed;

problems!(IssueProblems: NotFound, RateLimited);

/// An idempotency key of the service's own making.
#[derive(Serialize, ToSchema)]
#[schema(as = IssuedKey)]
struct Body {
    /// Signed, for this person at this event.
    idempotency_key: String,
    /// Until when it may be used for the first time.
    #[schema(value_type = OffsetDateTime)]
    expires_at: String,
}

/// 201 with a new key, good for 15 minutes. Nothing is stored.
///
/// Where the deployment takes its own keys; otherwise 404.
#[utoipa::path(
    post,
    path = "",
    tag = "Reservations",
    operation_id = "issue_key",
    summary = "Get an idempotency key",
    security(("admission_token" = [])),
    responses((status = 201, description = "A new key.", body = Body), IssueProblems),
)]
pub async fn issue(
    State(app): State<Arc<App>>,
    Extension(claims): Extension<AdmissionClaims>,
) -> Result<impl IntoResponse, Problem> {
    let issued = app.issued_keys.issue(&claims.event, &claims.sub, clock::unix_seconds());
    let (idempotency_key, ends_at) = issued.ok_or_else(Problem::not_found)?;
    let body = Body { idempotency_key, expires_at: wire_time(ends_at) };
    let no_store = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((StatusCode::CREATED, no_store, axum::Json(body)))
}

/// Refuses a key that is not taken here. What was decided under one that has ended since is still
/// the answer.
pub(super) async fn check(
    app: &App,
    keyed: &Keyed,
    sub: &Subject,
) -> Result<Option<Outcome>, Problem> {
    let checked = app.issued_keys.check(&keyed.key, &keyed.event, sub, clock::unix_seconds());
    match checked {
        Checked::Good => Ok(None),
        Checked::Foreign => Err(Problem::invalid_request(
            "This Idempotency-Key was not made here for you. Get one from POST \
             /v1/idempotency-keys.",
        )),
        Checked::Expired => {
            let decided = keyed.find(&mut *app.store.connection().await?).await?;
            decided.map(Some).ok_or_else(|| {
                Problem::invalid_request(
                    "This Idempotency-Key has ended unused. Get another from POST \
                     /v1/idempotency-keys.",
                )
            })
        }
    }
}
