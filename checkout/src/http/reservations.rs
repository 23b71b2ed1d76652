//! What the owner of a reservation and the service can do with it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use shared::ids::{EventId, ReservationId};
use shared::problem::{Path, Problem};
use shared::problems;
use utoipa::ToSchema;

use super::owner::Owner;
use crate::answer::{Answer, Outcome};
use crate::app::App;
use crate::clock;
use crate::sale::fingerprint::Fingerprint;
use crate::sale::hold::Action;
use crate::sale::key::IdempotencyKey;
use crate::sale::receipt;
use crate::store::idempotency::{Keyed, once};
use crate::store::transition::Transition;
use crate::store::{idempotency, payments, read, transaction};

problems!(ReadProblems: NotFound, SoldOut, PurchaseLimit, RateLimited);
problems!(CancelProblems: NotFound, InvalidTransition, HoldExpired, RateLimited, QueueFull);
problems!(
    ConfirmProblems: IdempotencyKeyMissing, NotFound, HoldExpired, IdempotencyKeyReused, QueueFull,
);

/// What is found under a reservation's id.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(as = ReservationOrPending)]
#[expect(dead_code, reason = "describes the two bodies")]
enum Found<'a> {
    Decided(receipt::Body<'a>),
    Undecided(receipt::Pending<'a>),
}

/// 200 with the reservation, also when it has ended.
///
/// An order that was answered with 202 is `pending` here until it is decided. If it was refused, the refusal
/// is the answer.
#[utoipa::path(
    get,
    path = "",
    tag = "Reservations",
    operation_id = "get_reservation",
    summary = "A reservation",
    security(("admission_token" = []), ("reservation_token" = [])),
    params(("id" = ReservationId, Path, description = "The reservation.")),
    responses((status = 200, description = "As it is now.", body = Found<'_>), ReadProblems),
)]
pub async fn read(
    State(app): State<Arc<App>>,
    Extension(owner): Extension<Owner>,
    Path(id): Path<ReservationId>,
) -> Result<Answer, Problem> {
    let owner = owner.of(id)?;
    let mut connection = app.store.connection().await?;
    let reservation =
        read::reservation(&mut connection, &owner.event, id, Some(&owner.sub)).await?;
    if let Some(reservation) = reservation {
        let payment =
            payments::of_reservation(&mut connection, &app.receipts, &reservation).await?;
        return Ok(Answer::done(app.receipts.body_with(&reservation, payment.as_ref())));
    }
    // An order whose caller did not wait: refused, or not decided yet, or lost with its instance.
    let (event, sub) = (&owner.event, &owner.sub);
    if let Some(refusal) = idempotency::refusal(&mut connection, event, id, sub).await? {
        return Ok(refusal);
    }
    if app.ids.may_be_pending(id, event, sub, clock::unix_ms()) {
        return Ok(Answer::done(app.receipts.pending(id, event, None)));
    }
    Err(Problem::not_found())
}

/// 200 with the reservation, cancelled: its places go back.
///
/// It needs no key: done again it has no further effect.
#[utoipa::path(
    delete,
    path = "",
    tag = "Reservations",
    operation_id = "cancel",
    summary = "Let a hold go",
    security(("admission_token" = []), ("reservation_token" = [])),
    params(("id" = ReservationId, Path, description = "The reservation.")),
    responses(
        (status = 200, description = "Cancelled, now or before.", body = receipt::Body<'_>),
        CancelProblems,
    ),
)]
pub async fn cancel(
    State(app): State<Arc<App>>,
    Extension(owner): Extension<Owner>,
    Path(id): Path<ReservationId>,
) -> Result<Outcome, Problem> {
    let owner = owner.of(id)?;
    let event = owner.event.clone();
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
        move |owned| async move {
            let answer = transaction::run(&owned, &app.store, &work).await;
            if answer.is_ok() {
                app.endings.decided(&work.event, id);
                app.writers.stock_changed(&work.event);
            }
            answer
        }
    });
    let outcome = answer.await.and_then(|answer| Ok(Outcome::First(answer?)));
    count(&app, &event, "cancel", &outcome);
    outcome
}

/// 200 with the reservation, confirmed: its places are sold.
///
/// For the shop's back end, when it is paid for. A body is not looked at.
#[utoipa::path(
    post,
    path = "",
    tag = "Reservations",
    operation_id = "confirm",
    summary = "Confirm what is paid for",
    security(("service_token" = [])),
    params(IdempotencyKey, ("id" = ReservationId, Path, description = "The reservation.")),
    responses(
        (status = 200, description = "Confirmed, now or before.", body = receipt::Body<'_>),
        ConfirmProblems,
    ),
)]
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
        event: event.clone(),
        id,
        owner: None,
        action: Action::Confirm,
        keyed: Some(keyed.clone()),
        receipts: app.receipts.clone(),
    };
    let outcome = app.tasks.run({
        let app = app.clone();
        move |owned| async move {
            let outcome = once(&owned, &app.store, &keyed, &work).await;
            if outcome.is_ok() {
                app.endings.decided(&keyed.event, id);
            }
            outcome
        }
    });
    let outcome = outcome.await.and_then(|outcome| Ok(outcome?));
    count(&app, &event, "confirm", &outcome);
    outcome
}

/// Counts an outcome.
pub(super) fn count(
    app: &App,
    event: &EventId,
    action: &'static str,
    outcome: &Result<Outcome, Problem>,
) {
    let outcome = match outcome {
        Ok(outcome) => outcome.label(),
        Err(problem) => problem.code().as_str(),
    };
    metrics::counter!("checkout_reservations_total", "action" => action, "outcome" => outcome)
        .increment(1);
    app.figures.of(event).note(action, outcome);
}
