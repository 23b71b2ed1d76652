//! Signing admission tokens.

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, Header, encode};
use uuid::Uuid;

use super::claims::{AUDIENCE, AdmissionClaims};
use super::key::{KeyError, SigningKey};
use crate::ids::{EventId, Subject};

/// Signs with the current key; publishes it and the others, so that verifiers know the next key
/// before it is first used, and the previous ones until their tokens are dead.
pub struct Issuer {
    iss: String,
    keys: Vec<SigningKey>,
}

impl Issuer {
    /// `iss` names this deployment; the verifier expects the same. `others` are published and sign
    /// nothing new: the next key, and the previous one.
    pub fn new(
        iss: impl Into<String>,
        current: SigningKey,
        others: impl IntoIterator<Item = SigningKey>,
    ) -> Self {
        Self { iss: iss.into(), keys: std::iter::once(current).chain(others).collect() }
    }

    /// Takes over the keys of an earlier issuer that this one does not have.
    pub fn keep(&mut self, before: &Self) {
        for key in &before.keys {
            if !self.keys.iter().any(|known| known.kid() == key.kid()) {
                self.keys.push(key.clone());
            }
        }
    }

    /// The name of the key that new tokens are signed with.
    pub fn current_kid(&self) -> &str {
        self.keys[0].kid()
    }

    /// The claims of one admission, from the store's decision.
    pub fn claims(
        &self,
        sub: Subject,
        event: EventId,
        number: u64,
        jti: Uuid,
        (iat, exp): (u64, u64),
    ) -> AdmissionClaims {
        let (iss, aud) = (self.iss.clone(), AUDIENCE.to_owned());
        AdmissionClaims { iss, aud, sub, event, jti, number, iat, nbf: iat, exp }
    }

    /// Signs the claims with the key named `kid`, or with the current one when that key is gone.
    /// Ed25519 is deterministic: the same claims under the same key are the same bytes.
    pub fn sign(&self, claims: &AdmissionClaims, kid: &str) -> Result<String, KeyError> {
        let key = self.keys.iter().find(|key| key.kid() == kid).unwrap_or(&self.keys[0]);
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(key.kid().to_owned());
        Ok(encode(&header, claims, key.private())?)
    }

    /// The public keys, for `/.well-known/jwks.json`.
    pub fn jwks(&self) -> JwkSet {
        JwkSet { keys: self.keys.iter().map(|key| key.public().clone()).collect() }
    }
}
