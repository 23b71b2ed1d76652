//! The `Idempotency-Key` header.

use axum::extract::FromRequestParts;
use http::request::Parts;
use shared::problem::{Code, Problem};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{ObjectBuilder, Required, Type};

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

impl IntoParams for IdempotencyKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let schema = ObjectBuilder::new().schema_type(Type::String).examples(["9f1c0a52-buy-1"]);
        let about = "A new one for each purchase and the same for every retry of it: 1 to 255 visible \
                     ASCII characters, bare or as a quoted string.";
        let header = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(Required::True)
            .description(Some(about))
            .schema(Some(schema));
        vec![header.build()]
    }
}
