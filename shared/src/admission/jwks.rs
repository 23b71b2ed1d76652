//! Where the verifier's public keys come from: a JWKS file, or a URL whose answer is kept.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, KeyAlgorithm};
use jsonwebtoken::{Algorithm, DecodingKey, Header};
use reqwest::Url;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// An unknown `kid` may ask for a refresh this often, so that forged ones cannot make us flood the
/// issuer.
const REFRESH_INTERVAL_MIN: Duration = Duration::from_secs(5);
/// How often the keys are read again without being asked, so that a withdrawn key stops working.
const REFRESH_INTERVAL: Duration = Duration::from_secs(60);
const FETCH_TIMEOUT: Duration = Duration::from_secs(2);

type Keys = HashMap<String, VerifyingKey>;

/// A public key, and the one algorithm it is used with.
#[derive(Clone)]
pub struct VerifyingKey {
    /// Decided by the key, never by a token.
    pub algorithm: Algorithm,
    /// The key.
    pub key: DecodingKey,
}

/// Why the keys could not be read. The ones known before stay in use.
#[derive(Debug, thiserror::Error)]
pub enum JwksError {
    /// The URL did not answer, or not with a JWKS.
    #[error("the JWKS URL did not answer with a key set")]
    Fetch(#[from] reqwest::Error),
    /// The file could not be read.
    #[error("the JWKS file could not be read")]
    File(#[from] std::io::Error),
    /// The file is not a JWKS.
    #[error("the JWKS file is not a key set")]
    Parse(#[from] serde_json::Error),
    /// No key that can be used was in the set.
    #[error("the key set has no key with a kid for EdDSA, ES256 or RS256")]
    Empty,
}

/// A set of public keys by `kid`, refreshed from its origin.
pub struct JwksSource {
    origin: Origin,
    keys: RwLock<Arc<Keys>>,
    last_attempt: Mutex<Option<Instant>>,
}

enum Origin {
    File(PathBuf),
    Url { url: Url, client: reqwest::Client },
    Fixed,
}

impl JwksSource {
    /// Keys from an http(s) URL. Nothing is fetched yet.
    pub fn url(url: Url) -> Result<Self, JwksError> {
        let client = reqwest::Client::builder().timeout(FETCH_TIMEOUT).build()?;
        Ok(Self::new(Origin::Url { url, client }, Keys::new()))
    }

    /// Keys from a file. Nothing is read yet.
    pub fn file(path: PathBuf) -> Self {
        Self::new(Origin::File(path), Keys::new())
    }

    /// Keys that never change.
    pub fn fixed(set: &JwkSet) -> Result<Self, JwksError> {
        Ok(Self::new(Origin::Fixed, usable(set)?))
    }

    fn new(origin: Origin, keys: Keys) -> Self {
        Self { origin, keys: RwLock::new(Arc::new(keys)), last_attempt: Mutex::new(None) }
    }

    /// Whether any key is known yet. Until then nothing can be verified.
    pub fn is_loaded(&self) -> bool {
        !self.snapshot().is_empty()
    }

    /// The key a token names, from memory; an unknown name asks the origin once, at a bounded rate.
    pub async fn key(&self, header: &Header) -> Option<VerifyingKey> {
        let kid = header.kid.as_deref()?;
        if let Some(key) = self.snapshot().get(kid) {
            return Some(key.clone());
        }
        self.refresh_if_due().await;
        self.snapshot().get(kid).cloned()
    }

    /// Reads the keys again now.
    pub async fn refresh(&self) -> Result<(), JwksError> {
        let set: JwkSet = match &self.origin {
            Origin::Fixed => return Ok(()),
            Origin::File(path) => serde_json::from_slice(&tokio::fs::read(path).await?)?,
            Origin::Url { url, client } => {
                client.get(url.clone()).send().await?.error_for_status()?.json().await?
            }
        };
        let keys = usable(&set)?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        Ok(())
    }

    /// Keeps the keys fresh until shutdown: at once until the first success, then once a minute.
    pub async fn keep_fresh(&self, shutdown: CancellationToken) {
        loop {
            if let Err(error) = self.refresh().await {
                tracing::warn!(error = %error, "keys not refreshed, keeping the known ones");
            }
            let pause =
                if self.is_loaded() { REFRESH_INTERVAL } else { Duration::from_millis(500) };
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn refresh_if_due(&self) {
        // Whoever waits here finds the keys already refreshed by the one before.
        let mut last_attempt = self.last_attempt.lock().await;
        if last_attempt.is_some_and(|at| at.elapsed() < REFRESH_INTERVAL_MIN) {
            return;
        }
        *last_attempt = Some(Instant::now());
        if let Err(error) = self.refresh().await {
            tracing::warn!(error = %error, "keys not refreshed for an unknown kid");
        }
    }

    fn snapshot(&self) -> Arc<Keys> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn usable(set: &JwkSet) -> Result<Keys, JwksError> {
    let keys: Keys = set
        .keys
        .iter()
        .filter_map(|jwk| {
            let key =
                VerifyingKey { algorithm: algorithm(jwk)?, key: DecodingKey::from_jwk(jwk).ok()? };
            Some((jwk.common.key_id.clone()?, key))
        })
        .collect();
    if keys.is_empty() { Err(JwksError::Empty) } else { Ok(keys) }
}

fn algorithm(jwk: &Jwk) -> Option<Algorithm> {
    match &jwk.algorithm {
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            Some(Algorithm::EdDSA)
        }
        AlgorithmParameters::EllipticCurve(point) if point.curve == EllipticCurve::P256 => {
            Some(Algorithm::ES256)
        }
        AlgorithmParameters::RSA(_) => match jwk.common.key_algorithm {
            None | Some(KeyAlgorithm::RS256) => Some(Algorithm::RS256),
            Some(_) => None,
        },
        _ => None,
    }
}
