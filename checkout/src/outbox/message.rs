//! What the shop is sent.

use serde::Serialize;
use shared::ids::{EventId, ReservationId, Subject};
use time::OffsetDateTime;
use uuid::Uuid;

use super::kind::Kind;
use crate::sale::hold::State;
use crate::sale::receipt::{Item, Reservation, formatted};

/// What is in front of a message's name.
const PREFIX: &str = "evt_";

/// Which message: of which reservation, and the how manieth of it. As text `evt_…_1`, the same at every
/// attempt, so that the shop knows it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageId {
    /// The reservation.
    pub reservation: Uuid,
    /// What happened to it first is 1.
    pub version: i32,
}

/// Something that happened to a reservation, as it stands in the outbox.
#[derive(Debug, Clone)]
pub struct Happened {
    /// Its message.
    pub id: MessageId,
    /// What happened.
    pub kind: Kind,
    /// When.
    pub at: OffsetDateTime,
    /// When the hold ends since then, if that is what changed.
    pub expires_at: Option<OffsetDateTime>,
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "type")]
    kind: String,
    timestamp: String,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    id: ReservationId,
    event: &'a EventId,
    version: i32,
    sub: &'a Subject,
    state: State,
    items: &'a [Item],
    total: i64,
    currency: &'a str,
    expires_at: String,
    created_at: String,
}

/// The JSON body. The same event is the same text, whatever has happened to the reservation since.
pub fn body(happened: &Happened, reservation: &Reservation) -> String {
    let body = Body {
        kind: format!("reservation.{}", happened.kind.as_str()),
        timestamp: formatted(happened.at),
        data: Data {
            id: reservation.id,
            event: &reservation.event,
            version: happened.id.version,
            sub: &reservation.sub,
            state: happened.kind.state().unwrap_or(reservation.state),
            items: &reservation.items,
            total: reservation.total,
            currency: &reservation.currency,
            expires_at: formatted(happened.expires_at.unwrap_or(reservation.expires_at)),
            created_at: formatted(reservation.created_at),
        },
    };
    serde_json::to_string(&body).expect("a struct of texts and numbers is always JSON")
}

impl std::fmt::Display for MessageId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{PREFIX}{}_{}", self.reservation.simple(), self.version)
    }
}

/// Not the name of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message's id is evt_, 32 hex digits, _ and a number")]
pub struct InvalidMessageId;

impl std::str::FromStr for MessageId {
    type Err = InvalidMessageId;

    fn from_str(text: &str) -> Result<Self, InvalidMessageId> {
        let parts = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_'));
        let (reservation, version) = parts.ok_or(InvalidMessageId)?;
        let id = Self {
            reservation: reservation.parse().map_err(|_| InvalidMessageId)?,
            version: version.parse().map_err(|_| InvalidMessageId)?,
        };
        // One name, one text.
        if id.to_string() == text { Ok(id) } else { Err(InvalidMessageId) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_by_one_name() {
        let id = MessageId { reservation: Uuid::from_u128(7), version: 2 };
        assert_eq!(id.to_string(), "evt_00000000000000000000000000000007_2");
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "evt_", "evt_7_2", "evt_00000000000000000000000000000007_02", "x"] {
            assert_eq!(bad.parse::<MessageId>(), Err(InvalidMessageId), "{bad}");
        }
    }

    #[test]
    fn the_same_event_is_the_same_text_whatever_has_happened_since() {
        let at = |seconds| OffsetDateTime::from_unix_timestamp(seconds).expect("in range");
        let mut reservation = Reservation {
            id: ReservationId(Uuid::from_u128(7)),
            event: "demo".parse().expect("a slug"),
            sub: "user".parse().expect("a subject"),
            state: State::Held,
            items: vec![],
            total: 20,
            currency: "EUR".to_owned(),
            expires_at: at(600),
            created_at: at(0),
        };
        let happened = Happened {
            id: MessageId { reservation: reservation.id.0, version: 1 },
            kind: Kind::Held,
            at: at(0),
            expires_at: Some(at(600)),
        };
        let first = body(&happened, &reservation);
        (reservation.state, reservation.expires_at) = (State::Cancelled, at(1_200));
        assert_eq!(body(&happened, &reservation), first);
        assert!(first.starts_with(
            r#"{"type":"reservation.held","timestamp":"1970-01-01T00:00:00.000Z","data":{"id":"0"#
        ));
        assert!(first.contains(r#""expires_at":"1970-01-01T00:10:00.000Z""#), "{first}");
    }
}
