//! `/healthz` (the process runs) and `/readyz` (it can do its work).

use std::pin::Pin;
use std::sync::Arc;

use axum::Extension;
use axum::response::IntoResponse;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::UtoipaMethodRouterExt;
use utoipa_axum::routes;

use crate::docs::Calls;

/// What one dependency says: ready, or why not. The reason is for operators and names no secret.
pub type Check = Result<(), String>;
/// Asks all dependencies, by name.
pub type Checks =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Vec<(&'static str, Check)>> + Send>> + Send + Sync>;

/// Whether the process runs.
#[derive(Serialize, ToSchema)]
struct Health {
    /// Always `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

/// Whether the service can do its work.
#[derive(Serialize, ToSchema)]
struct Readiness {
    /// `ready`, `degraded` (something it can do without is missing) or `not_ready`.
    #[schema(example = "ready")]
    status: &'static str,
    /// What it needs, each with what it says.
    checks: Vec<CheckAnswer>,
}

/// What one dependency says.
#[derive(Serialize, ToSchema)]
#[schema(as = Check)]
struct CheckAnswer {
    /// Its name.
    #[schema(example = "redis")]
    name: &'static str,
    /// Whether it does its part.
    ok: bool,
    /// Why it does not, for operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<S: Clone + Send + Sync + 'static> Calls<S> {
    /// Adds both. Without what is useful and not needed the service stays ready, and says `degraded`.
    #[must_use]
    pub fn health(self, needed: Checks, useful: Checks) -> Self {
        let dependencies = Extension(Dependencies { needed, useful });
        self.call("GET /healthz", routes!(healthz))
            .call("GET /readyz", routes!(readyz).layer(dependencies))
    }
}

/// No dependencies.
pub fn none() -> Checks {
    Arc::new(|| Box::pin(async { Vec::new() }))
}

#[derive(Clone)]
struct Dependencies {
    needed: Checks,
    useful: Checks,
}

/// Answers that the process runs.
#[utoipa::path(
    get,
    path = "",
    tag = "Service",
    summary = "Whether the process runs",
    responses((status = 200, description = "It does.", body = Health)),
)]
async fn healthz() -> impl IntoResponse {
    no_store(axum::Json(Health { status: "ok" }))
}

/// Answers whether every dependency does its part.
#[utoipa::path(
    get,
    path = "",
    tag = "Service",
    summary = "Whether the service can do its work",
    responses(
        (status = 200, description = "It can.", body = Readiness),
        (status = 503, description = "It cannot: send nobody here.", body = Readiness),
    ),
)]
async fn readyz(Extension(dependencies): Extension<Dependencies>) -> impl IntoResponse {
    let Dependencies { needed, useful } = dependencies;
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
