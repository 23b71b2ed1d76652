//! Writing a charge down, before anybody outside hears of it.

use shared::ids::{ReservationId, Subject};
use sqlx::PgConnection;
use uuid::Uuid;

use super::super::idempotency::Keyed;
use super::super::transaction::Work;
use super::super::{StoreError, read};
use crate::answer::Answer;
use crate::sale::Refusal;
use crate::sale::hold::State;
use crate::sale::receipt::Receipts;

/// A reservation to be paid for.
pub struct Start {
    /// The request's key, and with it the event.
    pub keyed: Keyed,
    /// The reservation.
    pub reservation: ReservationId,
    /// Its owner.
    pub sub: Subject,
    /// What the operation is to be called. Fixed beforehand, so that running this again makes the same.
    pub payment: Uuid,
    /// The provider's name.
    pub provider: &'static str,
    /// What to charge, in the provider's words.
    pub method: String,
    /// Writes the answer.
    pub receipts: Receipts,
}

impl Work for Start {
    type Output = Answer;

    async fn run(&self, connection: &mut PgConnection) -> Result<Answer, StoreError> {
        let (event, id) = (&self.keyed.event, self.reservation);
        let reservation = read::reservation(connection, event, id, Some(&self.sub))
            .await?
            .ok_or(StoreError::Refused(Refusal::NotFound))?;
        let written = sqlx::query(include_str!("../sql/payments/insert_charge.sql"))
            .bind(event.as_str())
            .bind(self.payment)
            .bind(id.0)
            .bind(self.provider)
            .bind(&self.method)
            .execute(&mut *connection)
            .await?;
        if written.rows_affected() == 0 {
            self.join(connection, reservation.state).await?;
        }
        // What is recorded is that this key has paid. How the payment stands is told as it is.
        let answer = Answer::pending(id, self.receipts.body(&reservation));
        self.keyed.record(connection, &answer).await?;
        Ok(answer)
    }
}

impl Start {
    /// Why nothing was written, unless the very same is under way or done: a second click is no second
    /// payment, and no mistake.
    async fn join(&self, connection: &mut PgConnection, state: State) -> Result<(), StoreError> {
        let live: Option<(String, Option<String>)> =
            sqlx::query_as(include_str!("../sql/payments/live_charge.sql"))
                .bind(self.keyed.event.as_str())
                .bind(self.reservation.0)
                .fetch_optional(connection)
                .await?;
        match live {
            Some((provider, method))
                if provider == self.provider && method.as_ref() == Some(&self.method) =>
            {
                Ok(())
            }
            Some(_) => Err(StoreError::Refused(Refusal::PaymentUnderWay)),
            None => Err(match state {
                State::Confirmed => StoreError::Refused(Refusal::NotPayable),
                State::Expired | State::Cancelled => StoreError::Refused(Refusal::HoldExpired),
                // It has changed since it was read.
                State::Held => StoreError::Conflict,
            }),
        }
    }
}
