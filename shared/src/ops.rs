//! What every ops listener has: a bearer token in front of everything, and `/metrics`.

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE};

use utoipa_axum::routes;

use crate::docs::{self, Calls};
use crate::layers;
use crate::problem::{Code, Problem};
use crate::secret::BearerToken;
use crate::telemetry;

/// The listener of described calls: `/metrics` and the document are added, and the token is put in front of
/// it all, unknown paths too. Only the page `/docs` is beside it: it holds nothing, and asks for the token.
pub fn listener(calls: Calls, token: BearerToken) -> Router {
    let routes = calls.call("GET /metrics", routes!(metrics)).documented();
    layers::with_fallbacks(routes)
        .layer(from_fn_with_state(token, require_token))
        .merge(docs::page())
}

/// The token of an `Authorization: Bearer …` header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

async fn require_token(State(token): State<BearerToken>, request: Request, next: Next) -> Response {
    match bearer(request.headers()) {
        Some(presented) if token.matches(presented) => next.run(request).await,
        _ => Problem::new(Code::InvalidToken, "Send the ops token as Authorization: Bearer.")
            .into_response(),
    }
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
