//! The owner of a reservation: by the admission, or by the reservation's own token, which outlives
//! the admission, so that nobody is thrown out while paying.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use shared::ids::{EventId, ReservationId, Subject};
use shared::ops::bearer;
use shared::problem::Problem;

use super::admitted::{Person, admission, missing};
use crate::app::App;

/// What the request has proved.
#[derive(Debug, Clone)]
pub struct Owner {
    /// The event.
    pub event: EventId,
    /// The person.
    pub sub: Subject,
    /// The only reservation that it holds for; none for all of the person's.
    only: Option<ReservationId>,
}

impl Owner {
    /// Refuses a token of another reservation, in the words for what is not there.
    pub fn of(self, id: ReservationId) -> Result<Self, Problem> {
        if self.only.is_none_or(|only| only == id) { Ok(self) } else { Err(Problem::not_found()) }
    }
}

/// Puts the [`Owner`] and the [`Person`] into the request's extensions, or refuses.
pub async fn require_owner(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let token = bearer(request.headers()).ok_or_else(missing)?;
    let owner = match app.receipts.verify(token) {
        Some(claims) => Owner { event: claims.event, sub: claims.sub, only: Some(claims.rid) },
        None => {
            let claims = admission(&app, request.headers()).await?;
            Owner { event: claims.event, sub: claims.sub, only: None }
        }
    };
    request.extensions_mut().insert(Person(owner.sub.clone()));
    request.extensions_mut().insert(owner);
    Ok(next.run(request).await)
}
