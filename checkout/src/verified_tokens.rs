//! Admission tokens that were verified a moment ago, so that a person who asks again, or a retry,
//! does not cost another verification of a signature (40 µs).
//!
//! Only what the signature says is remembered. Times are compared at every use, a key that is
//! withdrawn stops working within [`AGE_MAX`] more than before, and ended sessions are looked up
//! elsewhere.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::admission::{AdmissionClaims, LEEWAY_SECONDS, Rejected, Verifier};

use crate::clock;

/// How long a verification counts.
const AGE_MAX: Duration = Duration::from_secs(30);
/// Parts with a lock of their own.
const SHARDS: usize = 16;
/// Tokens in each; a full one is emptied. About 10 MB in all.
const SHARD_TOKENS_MAX: usize = 1_000;

type Shard = Mutex<HashMap<Box<str>, (Instant, Arc<AdmissionClaims>)>>;

/// A verifier with a memory.
pub struct VerifiedTokens {
    verifier: Verifier,
    hasher: RandomState,
    shards: [Shard; SHARDS],
}

impl VerifiedTokens {
    /// Nothing is verified yet.
    pub fn new(verifier: Verifier) -> Self {
        Self { verifier, hasher: RandomState::new(), shards: Default::default() }
    }

    /// The claims, only if every one of them holds.
    pub async fn verify(&self, token: &str) -> Result<AdmissionClaims, Rejected> {
        let shard = self.shard(token);
        if let Some(claims) = remembered(shard, token) {
            return Ok(claims);
        }
        let claims = self.verifier.verify(token).await?;
        let mut tokens = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if tokens.len() >= SHARD_TOKENS_MAX {
            tokens.clear();
        }
        tokens.insert(token.into(), (Instant::now(), Arc::new(claims.clone())));
        Ok(claims)
    }

    fn shard(&self, token: &str) -> &Shard {
        let hash = self.hasher.hash_one(token) % SHARDS as u64;
        &self.shards[usize::try_from(hash).unwrap_or(0)]
    }
}

fn remembered(shard: &Shard, token: &str) -> Option<AdmissionClaims> {
    let claims = {
        let tokens = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, claims) = tokens.get(token)?;
        (at.elapsed() < AGE_MAX).then(|| claims.clone())?
    };
    let now = clock::unix_seconds();
    let holds = now < claims.exp + LEEWAY_SECONDS && claims.nbf <= now + LEEWAY_SECONDS;
    holds.then(|| AdmissionClaims::clone(&claims))
}
