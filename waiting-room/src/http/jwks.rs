//! `GET /.well-known/jwks.json`: the public admission keys, current and next.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderValue, header};

use crate::app::App;

/// 200, cacheable for a minute: verifiers refresh on an unknown key anyway.
pub(crate) async fn jwks(State(app): State<Arc<App>>) -> impl IntoResponse {
    let cache = (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    ([cache], axum::Json(app.issuer.current().jwks()))
}
