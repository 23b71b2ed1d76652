//! Tokens that nobody may be let in with.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};
use shared::admission::SigningKey;

use super::super::random::Random;
use super::super::stage::Stage;

/// What is wrong with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forgery {
    None,
    Garbage,
    /// `alg: none`.
    Unsigned,
    /// HS256 with the public key as its secret.
    Confused,
    /// Signed by another key, under the right key's name.
    OtherKey,
    /// A real token in which another person's name was written.
    Altered,
    /// A queue ticket.
    Ticket,
}

pub(super) const ALL: [Forgery; 7] = [
    Forgery::None,
    Forgery::Garbage,
    Forgery::Unsigned,
    Forgery::Confused,
    Forgery::OtherKey,
    Forgery::Altered,
    Forgery::Ticket,
];

/// Such a token; `None` is none at all.
pub(super) fn token(
    forgery: Forgery,
    stage: &Stage,
    ticket: &str,
    random: &mut Random,
) -> Option<String> {
    let header = |alg: Algorithm| Header { kid: stage.key_id.clone(), ..Header::new(alg) };
    let claims = claims(stage, random);
    match forgery {
        Forgery::None => None,
        Forgery::Garbage => Some(random.uuid().to_string()),
        Forgery::Unsigned => {
            let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            Some(format!("{}.{}.", part(&json!({"alg": "none", "typ": "JWT"})), part(&claims)))
        }
        Forgery::Confused => {
            let secret = EncodingKey::from_secret(stage.public_key.as_bytes()).ok()?;
            encode(&header(Algorithm::HS256), &claims, &secret).ok()
        }
        Forgery::OtherKey => {
            let pem = SigningKey::generate_pem().ok()?;
            let key = EncodingKey::from_ed_pem(pem.as_bytes()).ok()?;
            encode(&header(Algorithm::EdDSA), &claims, &key).ok()
        }
        Forgery::Altered => {
            let real = stage.real_token.get()?;
            let [head, _, signature] = real.split('.').collect::<Vec<_>>().try_into().ok()?;
            Some(format!("{head}.{}.{signature}", URL_SAFE_NO_PAD.encode(claims.to_string())))
        }
        Forgery::Ticket => Some(ticket.to_owned()),
    }
}

fn claims(stage: &Stage, random: &mut Random) -> Value {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    json!({
        "iss": "stanchion", "aud": "checkout", "sub": random.uuid(), "event": stage.promised.event,
        "jti": random.uuid(), "number": 1, "iat": now, "nbf": now, "exp": now + 600,
    })
}
