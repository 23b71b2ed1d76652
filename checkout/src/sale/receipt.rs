//! What the owner of a reservation is shown, and the token that stands for owning it.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use serde::{Deserialize, Serialize};
use shared::ids::{EventId, ReservationId, SectorId, Subject};
use shared::secret::HmacKey;
use time::OffsetDateTime;
use time::format_description::StaticFormatDescription;
use time::macros::format_description;
use utoipa::ToSchema;
use uuid::Uuid;

use super::hold::State;
use crate::payment::shown::Shown;

/// The `typ` of a reservation token: no token of another kind passes for one.
const TOKEN_TYPE: &str = "reservation-token";
/// RFC 3339 in UTC, always to the millisecond, which is what the database keeps.
const WIRE_TIME: StaticFormatDescription =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// A reservation, as the database has it.
#[derive(Debug, Clone)]
pub struct Reservation {
    /// Its name.
    pub id: ReservationId,
    /// The event it is for.
    pub event: EventId,
    /// Its owner.
    pub sub: Subject,
    /// Where it stands; a hold whose time has passed is expired, whether swept yet or not.
    pub state: State,
    /// Places per sector, ascending.
    pub items: Vec<Item>,
    /// What all of it costs, in the currency's minor unit.
    pub total: i64,
    /// ISO 4217.
    pub currency: String,
    /// When the hold ends or ended.
    pub expires_at: OffsetDateTime,
    /// When the hold was made.
    pub created_at: OffsetDateTime,
}

/// Places in one sector.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ReservedItem)]
pub struct Item {
    /// The sector.
    pub sector_id: SectorId,
    /// Places.
    #[schema(example = 2)]
    pub quantity: i32,
    /// Of one place, in the currency's minor unit.
    #[schema(example = 4_500)]
    pub price: i64,
}

/// What the owner of a reservation is told of its payment.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = PaymentStatus)]
pub struct PaymentNote {
    /// The charge's name.
    pub id: Uuid,
    /// Who takes the money.
    pub provider: String,
    /// How it stands.
    pub state: Shown,
    /// In the currency's minor unit.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    /// Why it failed, in the provider's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_code: Option<String>,
    /// What the customer must do: of Stripe, the PaymentIntent's client secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The reservation that was bought, when it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation_id: Option<ReservationId>,
    /// And its token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reservation_token: Option<String>,
}

/// The claims of a reservation token: read, pay and cancel this one reservation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservationClaims {
    /// The event.
    pub event: EventId,
    /// The owner.
    pub sub: Subject,
    /// The reservation.
    pub rid: ReservationId,
    /// When the reservation was made, in seconds since the Unix epoch.
    pub iat: i64,
    /// Not valid from here on.
    pub exp: i64,
}

/// Writes bodies, signs and verifies reservation tokens.
#[derive(Clone)]
pub struct Receipts {
    header: Header,
    private: EncodingKey,
    public: DecodingKey,
    validation: Validation,
    retention_seconds: u32,
}

/// A reservation, as its owner is shown it.
#[derive(Serialize, ToSchema)]
#[schema(as = Reservation)]
pub(crate) struct Body<'a> {
    id: ReservationId,
    event: &'a EventId,
    state: State,
    /// Places per sector, ascending by the sector's id.
    items: &'a [Item],
    /// What all of it costs, in the currency's minor unit.
    #[schema(example = 9_000)]
    total: i64,
    /// ISO 4217.
    #[schema(example = "EUR")]
    currency: &'a str,
    /// When the hold ends or ended: until then it can be confirmed.
    #[schema(value_type = OffsetDateTime)]
    expires_at: String,
    /// When the hold was made.
    #[schema(value_type = OffsetDateTime)]
    created_at: String,
    /// Stands for owning this one reservation, for as long as answers are kept: sent as
    /// `Authorization: Bearer`.
    #[schema(example = "eyJ0eXAiOiJyZXNlcnZhd…")]
    reservation_token: String,
    /// How its payment stands, once somebody has paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<&'a PaymentNote>,
}

/// An order that is not decided yet.
#[derive(Serialize, ToSchema)]
#[schema(as = PendingReservation)]
pub(crate) struct Pending<'a> {
    /// Of the reservation, should it come to be.
    id: ReservationId,
    event: &'a EventId,
    state: Undecided,
    /// In the answer to the order itself: finds what becomes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "eyJ0eXAiOiJyZXNlcnZhd…")]
    reservation_token: Option<String>,
}

/// The state of what has none yet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = PendingState)]
enum Undecided {
    /// Ask again in a second.
    Pending,
}

/// A time of the Unix epoch, as it stands on the wire.
pub fn wire_time(unix_seconds: u64) -> String {
    let at = OffsetDateTime::from_unix_timestamp(unix_seconds.cast_signed());
    formatted(at.unwrap_or(OffsetDateTime::UNIX_EPOCH))
}

/// A time, as it stands on the wire.
pub(crate) fn formatted(at: OffsetDateTime) -> String {
    at.to_offset(time::UtcOffset::UTC)
        .format(WIRE_TIME)
        .expect("a complete date and time has all parts of the format")
}

impl Receipts {
    /// Signs with `key`; tokens are good until `retention_seconds` after the reservation was made.
    pub fn new(key: &HmacKey, retention_seconds: u32) -> Self {
        let mut header = Header::new(Algorithm::HS256);
        header.typ = Some(TOKEN_TYPE.to_owned());
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = 0;
        validation.validate_aud = false;
        validation.set_required_spec_claims(&["exp", "sub"]);
        const LONG_ENOUGH: &str = "an HmacKey has at least 32 bytes";
        Self {
            header,
            private: EncodingKey::from_secret(key.as_bytes()).expect(LONG_ENOUGH),
            public: DecodingKey::from_secret(key.as_bytes()).expect(LONG_ENOUGH),
            validation,
            retention_seconds,
        }
    }

    /// The JSON body. The same reservation in the same state is the same text.
    pub fn body(&self, reservation: &Reservation) -> String {
        self.body_with(reservation, None)
    }

    /// The JSON body, with what is told of the payment.
    pub fn body_with(&self, reservation: &Reservation, payment: Option<&PaymentNote>) -> String {
        serde_json::to_string(&Body {
            id: reservation.id,
            event: &reservation.event,
            state: reservation.state,
            items: &reservation.items,
            total: reservation.total,
            currency: &reservation.currency,
            expires_at: formatted(reservation.expires_at),
            created_at: formatted(reservation.created_at),
            reservation_token: self.token(reservation),
            payment,
        })
        .expect("a struct of texts and numbers is always JSON")
    }

    /// The JSON body of an order that is not decided yet; for its owner, at this time of the Unix
    /// epoch, with the reservation token that it will be found by.
    pub fn pending(
        &self,
        id: ReservationId,
        event: &EventId,
        owner: Option<(&Subject, u64)>,
    ) -> String {
        let token = owner
            .map(|(sub, unix_seconds)| self.signed(event, sub, id, unix_seconds.cast_signed()));
        let body = Pending { id, event, state: Undecided::Pending, reservation_token: token };
        serde_json::to_string(&body).expect("a struct of texts is always JSON")
    }

    /// The claims of a reservation token of ours that is still good.
    pub fn verify(&self, token: &str) -> Option<ReservationClaims> {
        let token = decode::<ReservationClaims>(token, &self.public, &self.validation).ok()?;
        (token.header.typ.as_deref() == Some(TOKEN_TYPE)).then_some(token.claims)
    }

    /// The token of a reservation that was made at this time of the Unix epoch.
    pub fn token_for(&self, event: &EventId, sub: &Subject, id: ReservationId, iat: i64) -> String {
        self.signed(event, sub, id, iat)
    }

    fn token(&self, reservation: &Reservation) -> String {
        let Reservation { event, sub, id, created_at, .. } = reservation;
        self.signed(event, sub, *id, created_at.unix_timestamp())
    }

    fn signed(&self, event: &EventId, sub: &Subject, id: ReservationId, iat: i64) -> String {
        let claims = ReservationClaims {
            event: event.clone(),
            sub: sub.clone(),
            rid: id,
            iat,
            exp: iat + i64::from(self.retention_seconds),
        };
        encode(&self.header, &claims, &self.private)
            .expect("claims are JSON, and HMAC takes a key of that length")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipts(key: &str) -> Receipts {
        Receipts::new(&key.repeat(32).parse().expect("32 bytes"), 60)
    }

    fn reservation(created_at: OffsetDateTime) -> Reservation {
        Reservation {
            id: ReservationId::generate(),
            event: "demo".parse().expect("a slug"),
            sub: "user".parse().expect("a subject"),
            state: State::Held,
            items: vec![],
            total: 0,
            currency: "EUR".to_owned(),
            expires_at: created_at,
            created_at,
        }
    }

    #[test]
    fn a_token_is_good_for_its_reservation_until_retention_ends() {
        let (ours, other) = (receipts("0a"), receipts("0b"));
        let now = OffsetDateTime::now_utc();
        let fresh = reservation(now);
        let token = ours.token(&fresh);
        assert_eq!(token, ours.token(&fresh), "the same reservation has the same token");
        let claims = ours.verify(&token).expect("fresh");
        assert_eq!((claims.rid, claims.sub), (fresh.id, fresh.sub));
        assert_eq!(other.verify(&token), None, "another key");
        let dead = reservation(now - time::Duration::seconds(61));
        assert_eq!(ours.verify(&ours.token(&dead)), None, "past retention");
        let mut untyped = ours.clone();
        untyped.header.typ = Some("JWT".to_owned());
        assert_eq!(ours.verify(&untyped.token(&reservation(now))), None, "another kind of token");
    }

    #[test]
    fn times_are_utc_to_the_millisecond() {
        let at = OffsetDateTime::from_unix_timestamp(1_700_000_000).expect("in range");
        let body = receipts("0a").body(&reservation(at));
        assert!(body.contains(r#""created_at":"2023-11-14T22:13:20.000Z""#), "{body}");
    }
}
