//! Payment operations. In the lock order of [`super`], their rows come before those of `reservations`.

pub mod recovery;
pub mod settle;
pub mod start;
pub mod watch;

use shared::ids::{EventId, ReservationId, Subject};
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::StoreError;
use crate::payment::operation::{Kind, ROUNDS_QUICK, State, key};
use crate::payment::provider::Order;
use crate::payment::shown::{Known, shown};
use crate::sale::hold;
use crate::sale::receipt::{PaymentNote, Receipts, Reservation};

/// An operation.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Operation {
    /// Its event.
    #[sqlx(rename = "event_id", try_from = "String")]
    pub event: EventId,
    /// Its name.
    #[sqlx(rename = "payment_id")]
    pub id: Uuid,
    reservation_id: Uuid,
    /// What is done with the money.
    #[sqlx(try_from = "String")]
    pub kind: Kind,
    /// Where it stands.
    #[sqlx(try_from = "String")]
    pub state: State,
    charge_id: Option<Uuid>,
    /// The provider's name.
    pub provider: String,
    method: Option<String>,
    /// In the currency's minor unit.
    pub amount: i64,
    currency: String,
    reference: Option<String>,
    /// Which try it is.
    pub round: i32,
    /// How often it was looked after.
    pub attempts: i32,
}

impl Operation {
    /// What it pays for, or has paid for.
    pub fn reservation(&self) -> ReservationId {
        ReservationId(self.reservation_id)
    }

    /// What the provider knows the present try by.
    pub fn key(&self) -> String {
        key(self.id, self.round)
    }

    /// As the provider is told of it. `charge_reference`: of a refund, the provider's name for what it
    /// gives back.
    pub fn order(&self, charge_reference: Option<String>) -> Order {
        Order {
            event: self.event.clone(),
            payment: self.id,
            reservation: self.reservation(),
            key: self.key(),
            amount: self.amount,
            currency: self.currency.clone(),
            method: self.method.clone(),
            reference: self.reference.clone(),
            // A charge has one try.
            charge: self.charge_id.map(|charge| (key(charge, 0), charge_reference)),
        }
    }
}

#[derive(sqlx::FromRow)]
struct OfReservation {
    payment_id: Uuid,
    provider: String,
    #[sqlx(try_from = "String")]
    state: State,
    amount: i64,
    currency: String,
    failure_code: Option<String>,
    customer_action: Option<String>,
    bought_id: Option<Uuid>,
    bought_at: Option<OffsetDateTime>,
    refund_state: Option<String>,
    refund_round: i32,
}

/// What the owner of a reservation is told of its payment, if there is one.
pub async fn of_reservation(
    connection: &mut PgConnection,
    receipts: &Receipts,
    reservation: &Reservation,
) -> Result<Option<PaymentNote>, StoreError> {
    let row: Option<OfReservation> =
        sqlx::query_as(include_str!("../sql/payments/of_reservation.sql"))
            .bind(reservation.event.as_str())
            .bind(reservation.id.0)
            .fetch_optional(connection)
            .await?;
    Ok(row.map(|row| row.note(receipts, &reservation.event, &reservation.sub, reservation)))
}

impl OfReservation {
    fn note(
        self,
        receipts: &Receipts,
        event: &EventId,
        sub: &Subject,
        reservation: &Reservation,
    ) -> PaymentNote {
        let refund = self.refund_state.and_then(|state| State::try_from(state).ok());
        let another = self.bought_id.filter(|bought| *bought != reservation.id.0);
        let known = Known {
            charge: self.state,
            refund: refund.map(|state| (state, self.refund_round >= ROUNDS_QUICK)),
            needs_customer: self.customer_action.is_some(),
            bought_another: another.is_some(),
            reservation: reservation.state,
        };
        let token = another
            .zip(self.bought_at)
            .map(|(id, at)| receipts.token_for(event, sub, ReservationId(id), at.unix_timestamp()));
        let live = reservation.state == hold::State::Held;
        PaymentNote {
            id: self.payment_id,
            provider: self.provider,
            state: shown(known),
            amount: self.amount,
            currency: self.currency,
            failure_code: self.failure_code,
            action: self.customer_action.filter(|_| live),
            reservation_id: another.map(ReservationId),
            reservation_token: token,
        }
    }
}
