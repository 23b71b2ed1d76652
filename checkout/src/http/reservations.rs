//! Steps 3 to 7 of a reservation, and what its owner and the service can do with it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use shared::admission::AdmissionClaims;
use shared::ids::ReservationId;
use shared::problem::{Code, Json, Path, Problem};

use super::owner::Owner;
use super::reserve_body::ReserveBody;
use crate::answer::{Answer, Outcome};
use crate::app::App;
use crate::sale::fingerprint::Fingerprint;
use crate::sale::hold::Action;
use crate::sale::key::IdempotencyKey;
use crate::store::idempotency::{Keyed, once};
use crate::store::reserve::Reserve;
use crate::store::transition::Transition;
use crate::store::{StoreError, read, transaction};

/// `POST /v1/reservations`
pub async fn create(
    State(app): State<Arc<App>>,
    Extension(claims): Extension<AdmissionClaims>,
    key: IdempotencyKey,
    Json(body): Json<ReserveBody>,
) -> Result<Outcome, Problem> {
    let answer = reserve(&app, claims, key, body).await;
    count("reserve", &answer);
    answer
}

async fn reserve(
    app: &Arc<App>,
    claims: AdmissionClaims,
    key: IdempotencyKey,
    body: ReserveBody,
) -> Result<Outcome, Problem> {
    // 3: what is asked for
    let basket = body.basket()?;
    let fingerprint = Fingerprint::reserve(&basket);
    let keyed = Keyed { event: claims.event, sub: Some(claims.sub.clone()), key, fingerprint };

    // 4: what memory can say to it
    let listing = app.catalogue.event(&keyed.event).await?.ok_or_else(not_sold_here)?;
    if !basket.sectors().all(|sector| listing.has(sector)) {
        return Err(Problem::not_found());
    }
    if basket.total() > listing.event.max_quantity_per_request {
        // A key that was decided when this was allowed keeps its answer.
        let decided = keyed.find(&mut *app.store.connection().await?).await?;
        return decided.ok_or_else(|| too_many(listing.event.max_quantity_per_request));
    }

    let work = Reserve { keyed, sub: claims.sub, basket, receipts: app.receipts.clone() };
    let decided = app.tasks.run({
        let app = app.clone();
        move |owned| async move {
            // 5: in line for the sectors, in this instance and between instances
            let turn = app.turns.take(&work.keyed.event, &work.basket).await;
            let turn = turn.ok_or(StoreError::Unavailable(None))?;
            // 6: one transaction decides and writes, unless the client has gone while in line
            let outcome = if owned.is_awaited() {
                once(&owned, &app.store, &work.keyed, &work).await
            } else {
                Err(StoreError::Unavailable(None))
            };
            turn.end().await;
            outcome
        }
    });
    // 7: the answer
    Ok(decided.await??)
}

/// `GET /v1/reservations/{id}`
pub async fn read(
    State(app): State<Arc<App>>,
    Extension(owner): Extension<Owner>,
    Path(id): Path<ReservationId>,
) -> Result<Answer, Problem> {
    let owner = owner.of(id)?;
    let mut connection = app.store.connection().await?;
    let reservation =
        read::reservation(&mut connection, &owner.event, id, Some(&owner.sub)).await?;
    let reservation = reservation.ok_or_else(Problem::not_found)?;
    Ok(Answer::done(app.receipts.body(&reservation)))
}

/// `DELETE /v1/reservations/{id}`. It needs no key: done again it has no further effect.
pub async fn cancel(
    State(app): State<Arc<App>>,
    Extension(owner): Extension<Owner>,
    Path(id): Path<ReservationId>,
) -> Result<Outcome, Problem> {
    let owner = owner.of(id)?;
    let work = Transition {
        event: owner.event,
        id,
        owner: Some(owner.sub),
        action: Action::Cancel,
        keyed: None,
        receipts: app.receipts.clone(),
    };
    let answer = app.tasks.run({
        let app = app.clone();
        move |owned| async move { transaction::run(&owned, &app.store, &work).await }
    });
    let outcome = answer.await.and_then(|answer| Ok(Outcome::First(answer?)));
    count("cancel", &outcome);
    outcome
}

/// `POST /v1/reservations/{id}/confirm`. A body is not looked at.
pub async fn confirm(
    State(app): State<Arc<App>>,
    key: IdempotencyKey,
    Path(id): Path<ReservationId>,
) -> Result<Outcome, Problem> {
    let event = read::event_of(&mut *app.store.connection().await?, id).await?;
    let event = event.ok_or_else(Problem::not_found)?;
    let fingerprint = Fingerprint::confirm(id);
    let keyed = Keyed { event: event.clone(), sub: None, key, fingerprint };
    let work = Transition {
        event,
        id,
        owner: None,
        action: Action::Confirm,
        keyed: Some(keyed.clone()),
        receipts: app.receipts.clone(),
    };
    let outcome = app.tasks.run({
        let app = app.clone();
        move |owned| async move { once(&owned, &app.store, &keyed, &work).await }
    });
    let outcome = outcome.await.and_then(|outcome| Ok(outcome?));
    count("confirm", &outcome);
    outcome
}

fn not_sold_here() -> Problem {
    Problem::new(Code::NotAdmitted, "The token is for an event that is not sold here.")
}

fn too_many(max: i32) -> Problem {
    let detail = format!("One request may ask for at most {max} places of this event.");
    Problem::new(Code::InvalidQuantity, detail)
}

fn count(action: &'static str, outcome: &Result<Outcome, Problem>) {
    let outcome = match outcome {
        Ok(outcome) => outcome.label(),
        Err(problem) => problem.code().as_str(),
    };
    metrics::counter!("checkout_reservations_total", "action" => action, "outcome" => outcome)
        .increment(1);
}
