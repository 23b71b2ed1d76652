//! What every ops listener has: a token in front of everything, who one is by it, and `/metrics`.
//!
//! A program sends its token with each request. A browser may sign in with it once instead, where a service
//! offers that, and has a cookie from then on ([`sessions`]).

mod access;
mod attempts;
mod sessions;
mod sign_in;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use http::header::CONTENT_TYPE;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::routes;

pub use access::{Access, Caller, InvalidAccess, Role, bearer};
pub use sessions::Sessions;

use crate::docs::{self, Calls};
use crate::layers;
use crate::telemetry;

/// The listener of described calls: `/metrics` and the document are added, and the token is put in front of
/// them all, unknown paths too. Beside it are the page `/docs`, what the calls have open, and signing in: they
/// hold nothing, and ask for the token.
pub fn listener(mut calls: Calls, access: Access) -> Router {
    if access.sessions().is_some() {
        calls = calls
            .open_call("POST /dashboard/sign-in", routes!(sign_in::sign_in))
            .open_call("POST /dashboard/sign-out", routes!(sign_in::sign_out));
    }
    let (behind, open) = calls
        .call("GET /v1/admin/session", routes!(session))
        .call("GET /metrics", routes!(metrics))
        .documented_parts();
    layers::with_fallbacks(behind)
        .layer(from_fn_with_state(access.clone(), access::require))
        .merge(layers::with_method_fallback(open).layer(Extension(access)))
        .merge(docs::page())
}

/// Who calls.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
struct SessionBody {
    role: Role,
}

/// Answers with what the caller may do.
#[utoipa::path(
    get,
    path = "",
    tag = "Service",
    operation_id = "session",
    summary = "What I may do",
    responses((status = 200, description = "By the token or the cookie that was sent.", body = SessionBody)),
)]
async fn session(Extension(caller): Extension<Caller>) -> Json<SessionBody> {
    Json(SessionBody { role: caller.role })
}

/// Answers with what is counted and measured.
#[utoipa::path(
    get,
    path = "",
    tag = "Service",
    operation_id = "prometheus",
    summary = "Figures for Prometheus",
    description = "Counters, gauges and histograms of this process, in the text format.",
    responses((status = 200, description = "The figures.", body = String, content_type = "text/plain")),
)]
async fn metrics() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], telemetry::metrics().render())
}
