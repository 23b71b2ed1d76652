//! `GET /docs`: a page that shows `/openapi.json`, out of the binary and from nowhere else.

use axum::Router;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::{HeaderName, HeaderValue, header};

use crate::problem::{Code, Problem};

const HTML: &str = include_str!("docs.html");
const CSS: &str = include_str!("docs.css");
const JS: &str = include_str!("docs.js");

/// Nothing from anywhere else, nothing inline, no framing.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The page and what it loads. They hold nothing but how to show a document: on an ops listener they need
/// no token, and ask for the one that the document needs.
pub fn page<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/docs", get(docs))
        .route("/docs/docs.css", get(|| async { file("text/css; charset=utf-8", CSS) }))
        .route("/docs/docs.js", get(|| async { file("text/javascript; charset=utf-8", JS) }))
        .method_not_allowed_fallback(|| async {
            Problem::new(Code::MethodNotAllowed, "This path does not take that method.")
        })
}

/// Answers with the page.
#[utoipa::path(
    get,
    path = "",
    tag = "Service",
    summary = "This document as a page",
    description = "Loads nothing from any other host.",
    security(()),
    responses((status = 200, description = "The page.", body = String, content_type = "text/html")),
)]
pub(super) async fn docs() -> Response {
    file("text/html; charset=utf-8", Html(HTML))
}

fn file(media_type: &'static str, text: impl IntoResponse) -> Response {
    let headers: [(HeaderName, HeaderValue); 5] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, text).into_response()
}
