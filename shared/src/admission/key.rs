//! Ed25519 signing keys and their public halves.

use aws_lc_rs::signature::Ed25519KeyPair;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonwebtoken::jwk::{Jwk, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, EncodingKey};

/// Why a key could not be made or read.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is not a PEM with an Ed25519 private key in PKCS #8.
    #[error("not an Ed25519 private key in PKCS #8 PEM")]
    Malformed(#[from] jsonwebtoken::errors::Error),
    /// The system gave no randomness.
    #[error("no key could be generated")]
    Generation(#[from] aws_lc_rs::error::Unspecified),
}

/// A private key, with the public one as it is published. Its `kid` is the RFC 7638 thumbprint of
/// the public key, so that the same key has the same name on every node.
#[derive(Clone)]
pub struct SigningKey {
    kid: String,
    private: EncodingKey,
    public: Jwk,
}

impl SigningKey {
    /// Reads an Ed25519 private key from PKCS #8 PEM.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let private = EncodingKey::from_ed_pem(pem.as_bytes())?;
        let mut public = Jwk::from_encoding_key(&private, Algorithm::EdDSA)?;
        let kid = public.thumbprint(ThumbprintHash::SHA256)?;
        public.common.key_id = Some(kid.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self { kid, private, public })
    }

    /// Makes a new private key and returns it as PKCS #8 PEM.
    pub fn generate_pem() -> Result<String, KeyError> {
        let der = Ed25519KeyPair::generate()?.to_pkcs8v1()?;
        let body = STANDARD.encode(der.as_ref());
        Ok(format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"))
    }

    /// The key's name in the header of a token.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The public half, as it is published.
    pub fn public(&self) -> &Jwk {
        &self.public
    }

    pub(super) fn private(&self) -> &EncodingKey {
        &self.private
    }
}
