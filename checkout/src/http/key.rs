//! The `Idempotency-Key` header.

use axum::extract::FromRequestParts;
use http::request::Parts;
use shared::problem::{Code, Problem};

use crate::sale::key::IdempotencyKey;

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut headers = parts.headers.get_all("idempotency-key").iter();
        let header = headers.next().ok_or_else(|| {
            Problem::new(
                Code::IdempotencyKeyMissing,
                "Send an Idempotency-Key, a new one for each purchase and the same when you retry.",
            )
        })?;
        let key = IdempotencyKey::parse(header.as_bytes()).filter(|_| headers.next().is_none());
        key.ok_or_else(|| {
            Problem::invalid_request("An Idempotency-Key is 1 to 255 visible ASCII characters.")
        })
    }
}
