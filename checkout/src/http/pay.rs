//! `POST /v1/reservations/{id}/payment`

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use serde::Deserialize;
use shared::ids::ReservationId;
use shared::problem::{Json, Path, Problem};
use shared::problems;
use utoipa::ToSchema;
use uuid::Uuid;

use super::issued_keys;
use super::owner::Owner;
use super::reservations::count;
use crate::answer::{Answer, Outcome};
use crate::app::App;
use crate::sale::fingerprint::Fingerprint;
use crate::sale::key::IdempotencyKey;
use crate::sale::receipt;
use crate::store::idempotency::{Keyed, once};
use crate::store::payments::start::Start;
use crate::store::{payments, read};

/// Longest name of a payment method, in bytes.
const METHOD_BYTES_MAX: usize = 255;

problems!(
    PayProblems: IdempotencyKeyMissing, NotFound, InvalidTransition, HoldExpired,
    IdempotencyKeyReused, UnsupportedMediaType, RateLimited, QueueFull,
);

/// How to pay.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Payment)]
#[serde(deny_unknown_fields)]
pub struct PayBody {
    /// Who takes the money: `sandbox` or `stripe`, as configured.
    #[schema(example = "stripe")]
    provider: String,
    /// What to charge, in the provider's words: of Stripe, a PaymentMethod's id. 1 to 255 bytes.
    #[schema(example = "pm_card_visa", min_length = 1, max_length = 255)]
    payment_method: String,
}

/// 200 when it is settled, whichever way; 202 while it is under way: `payment.state` says how it stands.
///
/// The key decides that it is paid for once. How the payment stands is told as it is, also when the same key
/// is sent again. A hold that ends meanwhile is no loss: when the money comes, the same places are taken
/// again if there are any (`recovered`), else it goes back (`refunded`).
#[utoipa::path(
    post,
    path = "",
    tag = "Payments",
    operation_id = "pay",
    summary = "Pay for a reservation that is held",
    security(("admission_token" = []), ("reservation_token" = [])),
    params(IdempotencyKey, ("id" = ReservationId, Path, description = "The reservation.")),
    responses(
        (status = 200, description = "Settled.", body = receipt::Body<'_>),
        (
            status = 202,
            description = "Under way.",
            body = receipt::Body<'_>,
            headers(
                ("Location" = String, description = "The reservation's path."),
                ("Retry-After" = String, description = "When to look again, in whole seconds."),
            ),
        ),
        PayProblems,
    ),
)]
pub async fn pay(
    State(app): State<Arc<App>>,
    Extension(owner): Extension<Owner>,
    key: IdempotencyKey,
    Path(id): Path<ReservationId>,
    Json(body): Json<PayBody>,
) -> Result<Outcome, Problem> {
    let owner = owner.of(id)?;
    let event = owner.event.clone();
    let outcome = paid(&app, owner, key, id, body).await;
    count(&app, &event, "pay", &outcome);
    outcome
}

async fn paid(
    app: &Arc<App>,
    owner: Owner,
    key: IdempotencyKey,
    id: ReservationId,
    body: PayBody,
) -> Result<Outcome, Problem> {
    let provider = app.payments.provider(&body.provider).map(|provider| provider.name());
    let provider = provider
        .ok_or_else(|| Problem::invalid_request("This provider is not one of those used here."))?;
    let method = body.payment_method;
    if !(1..=METHOD_BYTES_MAX).contains(&method.len()) || method.chars().any(char::is_control) {
        let detail = "payment_method is 1 to 255 bytes without control characters.";
        return Err(Problem::invalid_request(detail));
    }
    let keyed = Keyed {
        event: owner.event.clone(),
        sub: Some(owner.sub.clone()),
        key,
        fingerprint: Fingerprint::pay(id, provider, &method),
    };
    let outcome = match issued_keys::check(app, &keyed, &owner.sub).await? {
        Some(decided) => decided,
        None => {
            let (payment, sub) = (Uuid::now_v7(), owner.sub.clone());
            let receipts = app.receipts.clone();
            start(app, Start { keyed, reservation: id, sub, payment, provider, method, receipts })
                .await?
        }
    };
    if outcome.answer().is_success() {
        current(app, &owner, id, outcome).await
    } else {
        Ok(outcome)
    }
}

/// Writes the charge down, and has it sent. Waits for the provider as long as anybody waits for a
/// decision here; it is asked whether or not somebody waits.
async fn start(app: &Arc<App>, work: Start) -> Result<Outcome, Problem> {
    let (event, payment) = (work.keyed.event.clone(), work.payment);
    let outcome = app.tasks.run({
        let app = app.clone();
        move |owned| async move { once(&owned, &app.store, &work.keyed, &work).await }
    });
    let outcome = outcome.await??;
    if let Outcome::First(answer) = &outcome
        && answer.is_success()
    {
        let submit = app.tasks.run({
            let app = app.clone();
            move |owned| async move { app.payments.submit(&owned, &event, payment).await }
        });
        // Not in time, or not begun: the reconciler sees to it.
        let _ = tokio::time::timeout(app.decision_wait, submit).await;
    }
    Ok(outcome)
}

async fn current(
    app: &App,
    owner: &Owner,
    id: ReservationId,
    outcome: Outcome,
) -> Result<Outcome, Problem> {
    let mut connection = app.store.connection().await?;
    let reservation = read::reservation(&mut connection, &owner.event, id, Some(&owner.sub));
    let reservation = reservation.await?.ok_or_else(Problem::not_found)?;
    let note = payments::of_reservation(&mut connection, &app.receipts, &reservation).await?;
    let body = app.receipts.body_with(&reservation, note.as_ref());
    let settled = note.is_some_and(|note| note.state.is_settled());
    Ok(outcome.with(if settled { Answer::done(body) } else { Answer::pending(id, body) }))
}
