//! `/healthz` (the process runs) and `/readyz` (it can do its work).

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::response::IntoResponse;
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

/// What one dependency says: ready, or why not. The reason is for operators and names no secret.
pub type Check = Result<(), String>;
/// Asks all dependencies, by name.
pub type Checks =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Vec<(&'static str, Check)>> + Send>> + Send + Sync>;

#[derive(Serialize)]
struct Readiness {
    status: &'static str,
    checks: Vec<CheckAnswer>,
}

#[derive(Serialize)]
struct CheckAnswer {
    name: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Routes for both. The service is ready when every check is.
pub fn router<S: Clone + Send + Sync + 'static>(needed: Checks) -> Router<S> {
    router_with_useful(needed, Arc::new(|| Box::pin(async { Vec::new() })))
}

/// The same, with dependencies that the service can do without: it stays ready when one of them is
/// not, and says `degraded`.
pub fn router_with_useful<S: Clone + Send + Sync + 'static>(
    needed: Checks,
    useful: Checks,
) -> Router<S> {
    Router::new()
        .route(
            "/healthz",
            get(|| async { no_store(axum::Json(serde_json::json!({"status": "ok"}))) }),
        )
        .route("/readyz", get(move || readiness(needed.clone(), useful.clone())))
}

async fn readiness(needed: Checks, useful: Checks) -> impl IntoResponse {
    let (needed, useful) = (needed().await, useful().await);
    let all_ok = |checks: &[(&str, Check)]| checks.iter().all(|(_, check)| check.is_ok());
    let (status, word) = match (all_ok(&needed), all_ok(&useful)) {
        (true, true) => (StatusCode::OK, "ready"),
        (true, false) => (StatusCode::OK, "degraded"),
        (false, _) => (StatusCode::SERVICE_UNAVAILABLE, "not_ready"),
    };
    let checks = needed
        .into_iter()
        .chain(useful)
        .map(|(name, check)| CheckAnswer { name, ok: check.is_ok(), reason: check.err() })
        .collect();
    (status, no_store(axum::Json(Readiness { status: word, checks })))
}

fn no_store(body: impl IntoResponse) -> impl IntoResponse {
    ([(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], body)
}
