//! What an admission token says.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ids::{EventId, Subject};

/// The `aud` of every admission token.
pub const AUDIENCE: &str = "checkout";

/// How far the verifier's clock may differ from the issuer's, in seconds. The waiting room counts
/// a session as active for this much longer than its token says, so that no session outlives its
/// lease.
pub const LEEWAY_SECONDS: u64 = 5;

/// The claims of an admission token. Times are seconds since the Unix epoch, on the store's clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionClaims {
    /// The deployment that issued it.
    pub iss: String,
    /// Always [`AUDIENCE`].
    pub aud: String,
    /// The person.
    pub sub: Subject,
    /// The event that the person was let in to.
    pub event: EventId,
    /// This admission, once: the handle by which a session is ended or revoked.
    pub jti: Uuid,
    /// The person's queue number.
    pub number: u64,
    /// When it was first issued; a retried claim repeats it.
    pub iat: u64,
    /// Not valid before.
    pub nbf: u64,
    /// Not valid from here on.
    pub exp: u64,
}
