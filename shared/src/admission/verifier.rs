//! Verifying admission tokens.

use std::sync::Arc;

use jsonwebtoken::{Algorithm, Validation, decode, decode_header, get_current_timestamp};

use super::claims::{AUDIENCE, AdmissionClaims, LEEWAY_SECONDS};
use super::jwks::JwksSource;

/// Longest token that is looked at, in bytes; ours are about 500.
const TOKEN_BYTES_MAX: usize = 4096;

/// Why a token was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// Malformed, forged, expired, not yet valid, for another audience, by another issuer.
    #[error("the admission token is not valid")]
    Invalid,
    /// No key is known yet, so nothing can be said about any token.
    #[error("the admission keys are not loaded yet")]
    NoKeys,
}

/// Verifies admission tokens of one issuer.
#[derive(Clone)]
pub struct Verifier {
    keys: Arc<JwksSource>,
    validation: Validation,
}

impl Verifier {
    /// Accepts tokens issued under the name `iss`.
    pub fn new(iss: &str, keys: Arc<JwksSource>) -> Self {
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[iss]);
        validation.set_required_spec_claims(&["exp", "nbf", "aud", "iss", "sub"]);
        Self { keys, validation }
    }

    /// The claims, only if every one of them holds.
    pub async fn verify(&self, token: &str) -> Result<AdmissionClaims, Rejected> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Rejected::Invalid);
        }
        let header = decode_header(token).map_err(|_| Rejected::Invalid)?;
        if header.alg != Algorithm::EdDSA {
            return Err(Rejected::Invalid);
        }
        let Some(key) = self.keys.key(&header).await else {
            return Err(if self.keys.is_loaded() { Rejected::Invalid } else { Rejected::NoKeys });
        };
        let claims: AdmissionClaims =
            decode(token, &key.key, &self.validation).map_err(|_| Rejected::Invalid)?.claims;
        let now = get_current_timestamp();
        // The library takes a token for another second after its leeway, and by then its lease has
        // gone to somebody else.
        if now >= claims.exp.saturating_add(LEEWAY_SECONDS) {
            return Err(Rejected::Invalid);
        }
        // The library leaves `iat` unchecked.
        if claims.iat > now + LEEWAY_SECONDS {
            return Err(Rejected::Invalid);
        }
        Ok(claims)
    }
}
