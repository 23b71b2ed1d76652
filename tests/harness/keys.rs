//! Keys and secrets of the services under test.

use std::path::PathBuf;
use std::sync::LazyLock;

use shared::admission::{Issuer, SigningKey};

use crate::stores::scratch;

/// The ops token of every service.
pub const OPS_TOKEN: &str = "ops-token-of-the-tests";
/// The ops listeners' second token, of services that are started with it.
pub const READ_TOKEN: &str = "read-token-of-the-tests";
/// The credential that confirms reservations.
pub const SERVICE_TOKEN: &str = "service-token-of-the-tests";
/// Key of queue tickets.
pub const TICKET_KEY: &str = "11111111111111111111111111111111aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
/// Key of reservation tokens.
pub const RESERVATION_KEY: &str =
    "22222222222222222222222222222222bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
/// The `iss` of admission tokens.
pub const ISSUER: &str = "stanchion";

/// Admission keys, on disk as the services read them.
pub struct AdmissionKeys {
    /// The key that signs, as PEM.
    pub current: PathBuf,
    /// The key that is published and will sign next, as PEM.
    pub next: PathBuf,
    /// Both public keys as a JWKS.
    pub jwks: PathBuf,
    /// Signs as the waiting room does.
    pub issuer: Issuer,
    /// The current private key's text.
    pub current_pem: String,
}

/// This run's admission keys.
pub fn admission() -> &'static AdmissionKeys {
    static KEYS: LazyLock<AdmissionKeys> = LazyLock::new(make);
    &KEYS
}

/// A shop's key for its user tokens: the private one as PEM, and the path of the public one as a JWKS.
///
/// # Panics
/// When no key can be made.
pub fn shop_user_keys() -> (String, String) {
    let pem = SigningKey::generate_pem().expect("a key is made");
    let key = SigningKey::from_pem(&pem).expect("the key just made is read");
    let path = scratch().join("users.json");
    let jwks = serde_json::json!({ "keys": [key.public()] });
    std::fs::write(&path, jwks.to_string()).expect("the temporary directory is writable");
    (pem, path.display().to_string())
}

fn make() -> AdmissionKeys {
    let directory = scratch();
    let pem = || SigningKey::generate_pem().expect("a key is made");
    let (current_pem, next_pem) = (pem(), pem());
    let key = |pem: &str| SigningKey::from_pem(pem).expect("the key just made is read");
    let issuer = Issuer::new(ISSUER, key(&current_pem), Some(key(&next_pem)));
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("the temporary directory is writable");
        path
    };
    AdmissionKeys {
        current: write("current.pem", &current_pem),
        next: write("next.pem", &next_pem),
        jwks: write(
            "jwks.json",
            &serde_json::to_string(&issuer.jwks()).expect("a key set is JSON"),
        ),
        issuer,
        current_pem,
    }
}
