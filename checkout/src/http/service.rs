//! The shop's own service, which says that a reservation is paid for.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use shared::ops::bearer;
use shared::problem::{Code, Problem};

use crate::app::App;

/// Lets only the service through.
pub async fn require_service(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    match bearer(request.headers()) {
        Some(token) if app.service_token.matches(token) => Ok(next.run(request).await),
        _ => Err(Problem::new(
            Code::InvalidToken,
            "Send the service's token as Authorization: Bearer.",
        )),
    }
}
