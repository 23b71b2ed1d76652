//! Step 1: who asks. Only a person whom the waiting room has let in comes past here.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderMap;
use shared::admission::{AdmissionClaims, Rejected};
use shared::ids::Subject;
use shared::ops::bearer;
use shared::problem::{Code, Problem};

use super::limit::Limited;
use crate::app::App;

/// Whose request it is: the key of the limit.
#[derive(Debug, Clone)]
pub struct Person(pub Subject);

/// Puts the admission's claims and the [`Person`] into the request's extensions, or refuses.
pub async fn require_admission(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let claims = admission(&app, request.headers()).await?;
    request.extensions_mut().insert(Person(claims.sub.clone()));
    let event = claims.event.clone();
    request.extensions_mut().insert(claims);
    let response = next.run(request).await;
    if response.extensions().get::<Limited>().is_some() {
        app.figures.of(&event).note("reserve", Code::RateLimited.as_str());
    }
    Ok(response)
}

/// The claims of the request's admission token.
pub(super) async fn admission(app: &App, headers: &HeaderMap) -> Result<AdmissionClaims, Problem> {
    let token = bearer(headers).ok_or_else(missing)?;
    app.verifier.verify(token).await.map_err(|rejected| match rejected {
        Rejected::Invalid => {
            Problem::new(Code::InvalidToken, "The token is not valid, or not any more.")
        }
        Rejected::NoKeys => Problem::unavailable(),
    })
}

/// There is no token.
pub(super) fn missing() -> Problem {
    Problem::new(Code::InvalidToken, "Send the token as Authorization: Bearer.")
}
