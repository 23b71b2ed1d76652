//! What the waiting room answers, and what is looked at in it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

/// A place, as the room tells it.
#[derive(Debug, Deserialize)]
pub(super) struct Place {
    pub(super) ticket: String,
    pub(super) status: String,
    pub(super) number: u64,
    pub(super) users_ahead: u64,
    pub(super) estimated_wait_seconds: Option<Wait>,
    pub(super) poll_after_ms: u64,
    pub(super) heartbeat_after_ms: u64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Wait {
    pub(super) min: u64,
    pub(super) max: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Admission {
    pub(super) admission_token: String,
}

/// What is read in a token. Its signature is the checkout's matter.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    pub(super) event: String,
    pub(super) number: u64,
    pub(super) jti: String,
    pub(super) iat: u64,
    pub(super) exp: u64,
}

impl Claims {
    pub(super) fn of(token: &str) -> Option<Self> {
        let payload = token.split('.').nth(1)?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }
}
