//! Names of orders that are not decided yet.
//!
//! A reservation's id is fixed before its order gets in line, and proves itself that it was given to
//! this person, by any instance that has the key: so every instance can say `pending` for it, and
//! none has to remember it. It is a UUID of version 7: the time, 42 random bits, and 32 bits of an
//! HMAC over these, the event and the person. The HMAC guards nothing but that one word; who may
//! see a reservation is decided by its row.

use aws_lc_rs::hmac;
use shared::ids::{EventId, ReservationId, Subject};
use shared::secret::HmacKey;
use uuid::Uuid;

/// For so long after an order was taken it counts as pending when nothing else is known of it. An
/// order that is not decided by then was lost with its instance. Instances' clocks may differ by as
/// much.
const PENDING_MS_MAX: u64 = 60_000;

/// Makes ids and knows them again.
pub struct Ids(hmac::Key);

impl Ids {
    /// Every instance needs the same key.
    pub fn new(key: &HmacKey) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes()))
    }

    /// An id for an order of this person, at this time of the Unix epoch.
    pub fn issue(&self, event: &EventId, sub: &Subject, unix_ms: u64) -> ReservationId {
        // Random, with the bits of a version 4; those of the variant stay.
        let mut bytes = Uuid::new_v4().into_bytes();
        bytes[..6].copy_from_slice(&unix_ms.to_be_bytes()[2..]);
        bytes[6] = 0x70 | (bytes[6] & 0x0f);
        let tag = self.tag(event, sub, &bytes);
        bytes[12..].copy_from_slice(&tag);
        ReservationId(Uuid::from_bytes(bytes))
    }

    /// Whether this is such an id, and young enough for its order to be undecided.
    pub fn may_be_pending(
        &self,
        id: ReservationId,
        event: &EventId,
        sub: &Subject,
        unix_ms: u64,
    ) -> bool {
        let bytes = id.0.into_bytes();
        let mut issued_at = [0; 8];
        issued_at[2..].copy_from_slice(&bytes[..6]);
        u64::from_be_bytes(issued_at).abs_diff(unix_ms) <= PENDING_MS_MAX
            && self.tag(event, sub, &bytes) == bytes[12..]
    }

    fn tag(&self, event: &EventId, sub: &Subject, bytes: &[u8; 16]) -> [u8; 4] {
        let mut context = hmac::Context::with_key(&self.0);
        for part in [b"pending\n", event.as_str().as_bytes(), b"\n", sub.as_str().as_bytes(), b"\n"]
        {
            context.update(part);
        }
        context.update(&bytes[..12]);
        let mut tag = [0; 4];
        tag.copy_from_slice(&context.sign().as_ref()[..4]);
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_again_by_every_instance_for_its_owner_for_a_minute() {
        let key = |byte: &str| byte.repeat(32).parse().expect("32 bytes");
        let (here, elsewhere, stranger) =
            (Ids::new(&key("0a")), Ids::new(&key("0a")), Ids::new(&key("0b")));
        let (event, other): (EventId, EventId) =
            ("sale".parse().expect("a slug"), "other".parse().expect("a slug"));
        let (ada, bob): (Subject, Subject) =
            ("ada".parse().expect("a person"), "bob".parse().expect("a person"));
        let now = 1_700_000_000_000;
        let id = here.issue(&event, &ada, now);
        assert_eq!(id.0.get_version_num(), 7);
        assert_eq!(id.0.get_variant(), uuid::Variant::RFC4122);
        assert_ne!(id, here.issue(&event, &ada, now));
        assert!(elsewhere.may_be_pending(id, &event, &ada, now + 59_000));
        assert!(!elsewhere.may_be_pending(id, &event, &ada, now + 61_000), "too old");
        assert!(!elsewhere.may_be_pending(id, &event, &bob, now), "somebody else's");
        assert!(!elsewhere.may_be_pending(id, &other, &ada, now), "another event's");
        assert!(!stranger.may_be_pending(id, &event, &ada, now), "another key");
        let made_up = ReservationId(Uuid::now_v7());
        assert!(!here.may_be_pending(made_up, &event, &ada, now));
    }
}
