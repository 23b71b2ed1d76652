//! Steps 3 to 7 of a reservation.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use shared::admission::AdmissionClaims;
use shared::problem::{Code, Json, Problem};
use shared::problems;
use shared::signals::Session;

use super::issued_keys;
use super::reservations::count;
use super::reserve_body::ReserveBody;
use crate::answer::{Answer, Outcome};
use crate::app::App;
use crate::catalogue::Listing;
use crate::clock;
use crate::sale::basket::Basket;
use crate::sale::fingerprint::Fingerprint;
use crate::sale::key::IdempotencyKey;
use crate::sale::line::Undecided;
use crate::sale::order::Order;
use crate::sale::receipt;
use crate::store::idempotency::Keyed;

problems!(
    ReserveProblems: IdempotencyKeyMissing, NotAdmitted, NotFound, SoldOut, PurchaseLimit,
    UnsupportedMediaType, IdempotencyKeyReused, InvalidQuantity, RateLimited, QueueFull,
);

/// 201 with the reservation, or 202 when it is not decided in time; 200 with the first answer for the same
/// key.
///
/// One sector with `sector_id` and `quantity`, or several with `items`: all of them or none. The same sector
/// may be there twice, and counts together.
#[utoipa::path(
    post,
    path = "",
    tag = "Reservations",
    operation_id = "reserve",
    summary = "Hold places",
    security(("admission_token" = [])),
    params(IdempotencyKey),
    request_body = ReserveBody,
    responses(
        (
            status = 201, description = "Held until `expires_at`.", body = receipt::Body<'_>,
            headers(("Location" = String, description = "The reservation.")),
        ),
        (
            status = 200, description = "The answer that this key has got before.", body = receipt::Body<'_>,
            headers(("Idempotent-Replayed" = String, description = "`true`")),
        ),
        (
            status = 202, description = "In line, and not decided yet. It will be.", body = receipt::Pending<'_>,
            headers(
                ("Location" = String, description = "Where to look for what becomes of it."),
                ("Retry-After" = String, description = "When to look, in whole seconds."),
            ),
        ),
        ReserveProblems,
    ),
)]
pub async fn create(
    State(app): State<Arc<App>>,
    Extension(claims): Extension<AdmissionClaims>,
    key: IdempotencyKey,
    Json(body): Json<ReserveBody>,
) -> Result<Outcome, Problem> {
    let event = claims.event.clone();
    let answer = reserve(&app, claims, key, body).await;
    count(&app, &event, "reserve", &answer);
    answer
}

async fn reserve(
    app: &App,
    claims: AdmissionClaims,
    key: IdempotencyKey,
    body: ReserveBody,
) -> Result<Outcome, Problem> {
    // 3: what is asked for
    let basket = body.basket()?;
    let fingerprint = Fingerprint::reserve(&basket);
    let (event, sub) = (claims.event, claims.sub);
    let keyed = Keyed { event, sub: Some(sub.clone()), key, fingerprint };
    if let Some(outcome) = issued_keys::check(app, &keyed, &sub).await? {
        return Ok(outcome);
    }

    // 4: what memory can say to it
    let listing = app.catalogue.event(&keyed.event).await?.ok_or_else(not_sold_here)?;
    if !basket.sectors().all(|sector| listing.has(sector)) {
        return Err(Problem::not_found());
    }
    let refusal = if app.revoked.contains(&keyed.event, claims.jti) {
        Some(session_over())
    } else if basket.total() > listing.event.max_quantity_per_request {
        Some(too_many(listing.event.max_quantity_per_request))
    } else {
        None
    };
    if let Some(refusal) = refusal {
        // A key that was decided when this was allowed keeps its answer.
        let decided = keyed.find(&mut *app.store.connection().await?).await?;
        return decided.ok_or(refusal);
    }

    // 5: in line for the sector; 6 is the writer's: one transaction decides and writes
    let available = available(&listing, &basket);
    let order = Order {
        id: app.ids.issue(&keyed.event, &sub, clock::unix_ms()),
        event: keyed.event,
        sub,
        admission: Session { jti: claims.jti, number: claims.number },
        key: keyed.key,
        fingerprint,
        basket,
    };
    let (event, sub) = (order.event.clone(), order.sub.clone());
    let ticket = app.writers.place(order, available, &app.tasks)?;
    // 7: the answer, or where to look for it
    match ticket.reply(app.decision_wait).await {
        Ok(reply) => reply,
        Err(Undecided(id)) => {
            let body = app.receipts.pending(id, &event, Some((&sub, clock::unix_seconds())));
            Ok(Outcome::First(Answer::pending(id, body)))
        }
    }
}

/// Places left, as of the last look, in the sector of which the fewest are.
fn available(listing: &Listing, basket: &Basket) -> i32 {
    let left = basket.sectors().map(|sector| listing.available(sector));
    left.min().unwrap_or(0)
}

fn not_sold_here() -> Problem {
    Problem::new(Code::NotAdmitted, "The token is for an event that is not sold here.")
}

fn session_over() -> Problem {
    Problem::new(
        Code::NotAdmitted,
        "This admission is over: what was reserved with it was bought, cancelled or has expired. \
         Join the waiting room again for another. Reservations can still be read, paid for and \
         cancelled.",
    )
}

fn too_many(max: i32) -> Problem {
    let detail = format!("One request may ask for at most {max} places of this event.");
    Problem::new(Code::InvalidQuantity, detail)
}
