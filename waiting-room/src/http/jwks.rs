//! `GET /.well-known/jwks.json`: the public admission keys, current and next.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderValue, header};
use utoipa::ToSchema;

use crate::app::App;

/// Public keys (RFC 7517).
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what the library writes")]
struct KeySet {
    /// The key that signs, and the next one.
    keys: Vec<PublicKey>,
}

/// An Ed25519 public key (RFC 8037).
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what the library writes")]
struct PublicKey {
    /// `OKP`
    kty: String,
    /// `Ed25519`
    crv: String,
    /// `sig`
    #[schema(rename = "use")]
    key_use: String,
    /// `EdDSA`
    alg: String,
    /// The RFC 7638 thumbprint, named in the header of a token.
    kid: String,
    /// The key, in base64url.
    x: String,
}

/// 200, cacheable for a minute: verifiers refresh on an unknown key anyway.
#[utoipa::path(
    get,
    path = "",
    tag = "Room",
    summary = "The keys that verify admission tokens",
    responses((
        status = 200, description = "The keys, current and next.", body = KeySet,
        headers(("Cache-Control" = String, description = "`public, max-age=60`")),
    )),
)]
pub(crate) async fn jwks(State(app): State<Arc<App>>) -> impl IntoResponse {
    let cache = (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60"));
    ([cache], axum::Json(app.issuer.current().jwks()))
}
