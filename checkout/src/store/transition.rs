//! Confirming and cancelling: one conditional write takes a hold out of `held`.

use shared::ids::{EventId, ReservationId, Subject};
use sqlx::PgConnection;

use super::idempotency::Keyed;
use super::settle::{self, Leaving};
use super::transaction::Work;
use super::{StoreError, read};
use crate::answer::Answer;
use crate::sale::Refusal;
use crate::sale::hold::{self, Action, Step};
use crate::sale::receipt::{Receipts, Reservation};

/// Something to be done to a reservation.
pub struct Transition {
    /// Its event.
    pub event: EventId,
    /// Its name.
    pub id: ReservationId,
    /// Only if this person owns it; none for the service.
    pub owner: Option<Subject>,
    /// What to do.
    pub action: Action,
    /// The request's key, if it has one.
    pub keyed: Option<Keyed>,
    /// Writes the answer.
    pub receipts: Receipts,
}

impl Work for Transition {
    type Output = Answer;

    async fn run(&self, connection: &mut PgConnection) -> Result<Answer, StoreError> {
        let left = self.leave_held(connection).await?;
        let reservation = read::reservation(connection, &self.event, self.id, self.owner.as_ref())
            .await?
            .ok_or(StoreError::Refused(Refusal::NotFound))?;
        if !left {
            self.already_done(&reservation)?;
        }
        let quantity = reservation.items.iter().map(|item| item.quantity).sum();
        if left {
            let leaving = self.leaving(quantity);
            settle::user_total(connection, &self.event, &reservation.sub, leaving).await?;
        }
        let answer = Answer::done(self.receipts.body(&reservation));
        if let Some(keyed) = &self.keyed {
            keyed.record(connection, &answer).await?;
        }
        if left {
            for item in &reservation.items {
                let leaving = self.leaving(item.quantity);
                settle::stock(connection, &self.event, item.sector_id, leaving).await?;
            }
        }
        Ok(answer)
    }
}

impl Transition {
    async fn leave_held(&self, connection: &mut PgConnection) -> Result<bool, StoreError> {
        let left = sqlx::query(include_str!("sql/leave_held.sql"))
            .bind(self.event.as_str())
            .bind(self.id.0)
            .bind(self.owner.as_ref().map(Subject::as_str))
            .bind(self.action.target().as_str())
            .execute(connection)
            .await?;
        Ok(left.rows_affected() == 1)
    }

    /// Why the reservation did not leave `held`, unless it is where it should be.
    fn already_done(&self, reservation: &Reservation) -> Result<(), StoreError> {
        match hold::step(reservation.state, self.action) {
            Step::Already => Ok(()),
            Step::Refused(refusal) => Err(StoreError::Refused(refusal)),
            // It could have: somebody must have been at it at the same moment.
            Step::To(_) => Err(StoreError::Conflict),
        }
    }

    fn leaving(&self, quantity: i32) -> Leaving {
        match self.action {
            Action::Confirm => Leaving::Sold(quantity),
            Action::Cancel => Leaving::Returned(quantity),
        }
    }
}
