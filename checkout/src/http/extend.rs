//! `POST /v1/reservations/{id}/extend`

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use shared::ids::ReservationId;
use shared::problem::{Path, Problem};
use shared::problems;

use super::issued_keys;
use super::owner::Owner;
use super::reservations::count;
use crate::answer::Outcome;
use crate::app::App;
use crate::sale::fingerprint::Fingerprint;
use crate::sale::key::IdempotencyKey;
use crate::sale::receipt;
use crate::store::extend::Extend;
use crate::store::idempotency::{Keyed, once};

problems!(
    ExtendProblems: IdempotencyKeyMissing, NotFound, InvalidTransition, HoldExpired,
    IdempotencyKeyReused, RateLimited, QueueFull,
);

/// 200 with the reservation and its new `expires_at`. Once, while the hold is live.
///
/// As long again as a new hold of the event, and in all no longer than its `max_hold_seconds`.
#[utoipa::path(
    post,
    path = "",
    tag = "Reservations",
    summary = "Make a hold last longer",
    security(("admission_token" = []), ("reservation_token" = [])),
    params(IdempotencyKey, ("id" = ReservationId, Path, description = "The reservation.")),
    responses(
        (status = 200, description = "Extended.", body = receipt::Body<'_>),
        ExtendProblems,
    ),
)]
pub async fn extend(
    State(app): State<Arc<App>>,
    Extension(owner): Extension<Owner>,
    key: IdempotencyKey,
    Path(id): Path<ReservationId>,
) -> Result<Outcome, Problem> {
    let owner = owner.of(id)?;
    let event = owner.event.clone();
    let keyed = Keyed {
        event: owner.event,
        sub: Some(owner.sub.clone()),
        key,
        fingerprint: Fingerprint::extend(id),
    };
    if let Some(outcome) = issued_keys::check(&app, &keyed, &owner.sub).await? {
        return Ok(outcome);
    }
    let work = Extend { keyed, id, sub: owner.sub, receipts: app.receipts.clone() };
    let outcome = app.tasks.run({
        let app = app.clone();
        move |owned| async move { once(&owned, &app.store, &work.keyed, &work).await }
    });
    let outcome = outcome.await.and_then(|outcome| Ok(outcome?));
    count(&app, &event, "extend", &outcome);
    outcome
}
