//! Idempotency keys that we make: signed, for one person and event, good for a while, and stored
//! nowhere. They cannot be guessed or shared, and two requests never get the same one by accident.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::ValueEnum;
use shared::ids::{EventId, Subject};
use shared::secret::HmacKey;
use uuid::Uuid;

use super::key::IdempotencyKey;

/// How long a key may be used for the first time, in seconds.
pub const GOOD_FOR_SECONDS: u64 = 900;
/// What keys of ours begin with.
const PREFIX: &str = "s1.";

/// Whose keys are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeyPolicy {
    /// The client's own; none is issued.
    Client,
    /// Ours alone.
    Server,
    /// Both.
    Either,
}

/// What is to be said of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// It may be used.
    Good,
    /// It may only be sent again: it is too old for a first use.
    Expired,
    /// Not one of ours, or not this person's.
    Foreign,
}

/// Makes keys and checks them.
pub struct IssuedKeys {
    key: hmac::Key,
    policy: KeyPolicy,
}

impl IssuedKeys {
    /// Every instance needs the same key.
    pub fn new(key: &HmacKey, policy: KeyPolicy) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()), policy }
    }

    /// A new key and when it ends, in seconds of the Unix epoch; none where only clients make them.
    pub fn issue(
        &self,
        event: &EventId,
        sub: &Subject,
        unix_seconds: u64,
    ) -> Option<(String, u64)> {
        if self.policy == KeyPolicy::Client {
            return None;
        }
        let ends_at = unix_seconds + GOOD_FOR_SECONDS;
        let mut bytes = ends_at.to_be_bytes().to_vec();
        bytes.extend(&Uuid::new_v4().as_bytes()[..10]);
        let tag = self.tag(event, sub, &bytes);
        bytes.extend(&tag.as_ref()[..16]);
        Some((format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)), ends_at))
    }

    /// Whether the key may be used by this person.
    pub fn check(
        &self,
        key: &IdempotencyKey,
        event: &EventId,
        sub: &Subject,
        unix_seconds: u64,
    ) -> Checked {
        let ours = key.as_str().strip_prefix(PREFIX);
        match (self.policy, ours) {
            (KeyPolicy::Client, _) | (KeyPolicy::Either, None) => Checked::Good,
            (KeyPolicy::Server, None) => Checked::Foreign,
            (_, Some(ours)) => match self.ends_at(ours, event, sub) {
                Some(ends_at) if unix_seconds < ends_at => Checked::Good,
                Some(_) => Checked::Expired,
                None => Checked::Foreign,
            },
        }
    }

    fn ends_at(&self, text: &str, event: &EventId, sub: &Subject) -> Option<u64> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (signed, tag) = bytes.split_at_checked(18)?;
        let expected = self.tag(event, sub, signed);
        let is_ours =
            aws_lc_rs::constant_time::verify_slices_are_equal(&expected.as_ref()[..16], tag);
        is_ours.ok()?;
        Some(u64::from_be_bytes(signed[..8].try_into().ok()?))
    }

    fn tag(&self, event: &EventId, sub: &Subject, bytes: &[u8]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        let label: &[u8] = b"idempotency-key\n";
        for part in [label, event.as_str().as_bytes(), b"\n", sub.as_str().as_bytes(), b"\n", bytes]
        {
            context.update(part);
        }
        context.sign()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_good_for_its_person_and_event_for_fifteen_minutes() {
        let secret = "0a".repeat(32).parse().expect("32 bytes");
        let keys = |policy| IssuedKeys::new(&secret, policy);
        let (event, other): (EventId, EventId) =
            ("sale".parse().expect("a slug"), "other".parse().expect("a slug"));
        let (ada, bob): (Subject, Subject) =
            ("ada".parse().expect("a person"), "bob".parse().expect("a person"));
        let (server, either) = (keys(KeyPolicy::Server), keys(KeyPolicy::Either));
        let (text, ends_at) = server.issue(&event, &ada, 1_000).expect("they are issued");
        assert_eq!(ends_at, 1_900);
        let key = IdempotencyKey::parse(text.as_bytes()).expect("a key");
        for keys in [&server, &either] {
            assert_eq!(keys.check(&key, &event, &ada, 1_899), Checked::Good);
            assert_eq!(keys.check(&key, &event, &ada, 1_900), Checked::Expired);
            assert_eq!(keys.check(&key, &event, &bob, 1_000), Checked::Foreign);
            assert_eq!(keys.check(&key, &other, &ada, 1_000), Checked::Foreign);
            for forged in ["s1.", "s1.AAAA", &format!("{text}A"), &text.replace("s1.A", "s1.B")] {
                let forged = IdempotencyKey::parse(forged.as_bytes()).expect("a key");
                assert_eq!(keys.check(&forged, &event, &ada, 1_000), Checked::Foreign);
            }
        }
        let own = IdempotencyKey::parse(b"own").expect("a key");
        assert_eq!(server.check(&own, &event, &ada, 1_000), Checked::Foreign);
        assert_eq!(either.check(&own, &event, &ada, 1_000), Checked::Good);
        assert_eq!(keys(KeyPolicy::Client).issue(&event, &ada, 1_000), None);
        assert_eq!(keys(KeyPolicy::Client).check(&own, &event, &ada, 1_000), Checked::Good);
    }
}
