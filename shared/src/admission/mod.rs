//! The admission token: a JWT (EdDSA, Ed25519) that says who was let in to which event.
//!
//! The waiting room signs it with an [`Issuer`]; the checkout reads it with a [`Verifier`], which
//! takes the public keys from a [`JwksSource`]. The algorithm is pinned: nothing in the token
//! decides how it is verified.

mod claims;
mod issuer;
mod jwks;
mod key;
mod verifier;

pub use claims::{AUDIENCE, AdmissionClaims, LEEWAY_SECONDS};
pub use issuer::Issuer;
pub use jwks::{JwksError, JwksSource, VerifyingKey};
pub use key::{KeyError, SigningKey};
pub use verifier::{Rejected, Verifier};
