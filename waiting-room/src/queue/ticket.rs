//! The queue ticket: a signed record of a place, held by the person and by nobody else.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};
use shared::ids::{EventId, Subject};
use shared::secret::HmacKey;

const TYPE: &str = "queue-ticket";
/// Longest text that is looked at, in bytes; ours are under 400 and a subject may have 255.
const TICKET_BYTES_MAX: usize = 2048;

/// What a ticket says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The event it is for.
    pub event: EventId,
    /// The queue number.
    pub number: u64,
    /// The person.
    pub sub: Subject,
    /// Which life of the store gave it out.
    pub epoch: u64,
    /// When, in seconds since the Unix epoch.
    pub iat: u64,
    /// In the priority lane.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub priority: bool,
    /// The fewest users ahead that its holder was told: what is shown to him never rises.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
}

/// Signs and reads tickets (JWS, HS256).
#[derive(Clone)]
pub struct TicketKey {
    signing: EncodingKey,
    reading: DecodingKey,
    validation: Validation,
}

impl TicketKey {
    /// From a key of its own: never one that signs anything else.
    pub fn new(key: &HmacKey) -> Result<Self, jsonwebtoken::errors::Error> {
        let mut validation = Validation::new(Algorithm::HS256);
        // A place in the queue has no expiry.
        validation.validate_exp = false;
        validation.required_spec_claims.clear();
        Ok(Self {
            signing: EncodingKey::from_secret(key.as_bytes())?,
            reading: DecodingKey::from_secret(key.as_bytes())?,
            validation,
        })
    }

    /// The ticket as text.
    pub fn sign(&self, ticket: &Ticket) -> Result<String, jsonwebtoken::errors::Error> {
        let header = Header { typ: Some(TYPE.to_owned()), ..Header::new(Algorithm::HS256) };
        encode(&header, ticket, &self.signing)
    }

    /// The ticket, if it is ours, unaltered, and for this event.
    pub fn read(&self, text: &str, event: &EventId) -> Option<Ticket> {
        if text.len() > TICKET_BYTES_MAX {
            return None;
        }
        let data = decode::<Ticket>(text, &self.reading, &self.validation).ok()?;
        let ours = data.header.typ.as_deref() == Some(TYPE) && data.claims.event == *event;
        ours.then_some(data.claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(digit: &str) -> TicketKey {
        TicketKey::new(&digit.repeat(64).parse().expect("32 bytes of hex")).expect("a valid key")
    }

    fn ticket() -> Ticket {
        let (event, sub) = ("demo".parse().expect("a slug"), "somebody".parse().expect("a name"));
        Ticket { event, number: 7, sub, epoch: 1, iat: 1, priority: false, ahead: None }
    }

    #[test]
    fn a_ticket_is_read_back_only_with_its_key_for_its_event_and_unaltered() {
        let (ticket, ours) = (ticket(), key("a"));
        let text = ours.sign(&ticket).expect("signed");
        assert_eq!(ours.read(&text, &ticket.event), Some(ticket.clone()));
        assert_eq!(key("b").read(&text, &ticket.event), None);
        assert_eq!(ours.read(&text, &"other".parse().expect("a slug")), None);
        let mut altered = text.into_bytes();
        let middle = altered.len() / 2;
        altered[middle] = if altered[middle] == b'A' { b'B' } else { b'A' };
        assert_eq!(ours.read(&String::from_utf8_lossy(&altered), &ticket.event), None);
    }

    #[test]
    fn another_kind_of_token_under_the_same_key_is_not_a_ticket() {
        let (ticket, ours) = (ticket(), key("a"));
        let text = encode(&Header::new(Algorithm::HS256), &ticket, &ours.signing).expect("signed");
        assert_eq!(ours.read(&text, &ticket.event), None);
    }
}
