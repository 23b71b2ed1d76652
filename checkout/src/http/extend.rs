//! `POST /v1/reservations/{id}/extend`

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use shared::ids::ReservationId;
use shared::problem::{Path, Problem};

use super::issued_keys;
use super::owner::Owner;
use super::reservations::count;
use crate::answer::Outcome;
use crate::app::App;
use crate::sale::fingerprint::Fingerprint;
use crate::sale::key::IdempotencyKey;
use crate::store::extend::Extend;
use crate::store::idempotency::{Keyed, once};

/// Makes a live hold last longer, once: as long again as a new hold of the event, and in all no
/// longer than its `max_hold_seconds`.
pub async fn extend(
    State(app): State<Arc<App>>,
    Extension(owner): Extension<Owner>,
    key: IdempotencyKey,
    Path(id): Path<ReservationId>,
) -> Result<Outcome, Problem> {
    let owner = owner.of(id)?;
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
    count("extend", &outcome);
    outcome
}
