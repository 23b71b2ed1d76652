//! Making a live hold last longer, once.

use shared::ids::{ReservationId, Subject};
use sqlx::PgConnection;

use super::idempotency::Keyed;
use super::transaction::Work;
use super::{StoreError, read};
use crate::answer::Answer;
use crate::sale::Refusal;
use crate::sale::hold::State;
use crate::sale::receipt::Receipts;

/// A hold to be extended.
pub struct Extend {
    /// The request's key, and with it the event.
    pub keyed: Keyed,
    /// Its name.
    pub id: ReservationId,
    /// Its owner.
    pub sub: Subject,
    /// Writes the answer.
    pub receipts: Receipts,
}

impl Work for Extend {
    type Output = Answer;

    async fn run(&self, connection: &mut PgConnection) -> Result<Answer, StoreError> {
        let event = &self.keyed.event;
        let extended = sqlx::query(include_str!("sql/extend_hold.sql"))
            .bind(event.as_str())
            .bind(self.id.0)
            .bind(self.sub.as_str())
            .execute(&mut *connection)
            .await?;
        let reservation = read::reservation(connection, event, self.id, Some(&self.sub))
            .await?
            .ok_or(StoreError::Refused(Refusal::NotFound))?;
        if extended.rows_affected() == 0 {
            return Err(StoreError::Refused(match reservation.state {
                State::Held | State::Confirmed => Refusal::NotExtendable,
                State::Expired | State::Cancelled => Refusal::HoldExpired,
            }));
        }
        let answer = Answer::done(self.receipts.body(&reservation));
        self.keyed.record(connection, &answer).await?;
        Ok(answer)
    }
}
