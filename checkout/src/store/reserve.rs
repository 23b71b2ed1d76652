//! Making a hold over several sectors: one transaction decides and writes. (Orders for one sector are
//! written together, see `batch`.)

use std::sync::Arc;

use sqlx::PgConnection;
use uuid::Uuid;

use super::StoreError;
use super::idempotency::Keyed;
use super::read::{ReservationRow, collected};
use super::transaction::Work;
use crate::answer::Answer;
use crate::sale::Refusal;
use crate::sale::order::Order;
use crate::sale::receipt::{Receipts, Reservation};

/// A hold to be made.
pub struct Reserve {
    /// The request's key, and with it the event.
    pub keyed: Keyed,
    /// What is asked for.
    pub order: Arc<Order>,
    /// Writes the answer.
    pub receipts: Receipts,
}

impl Work for Reserve {
    type Output = Answer;

    async fn run(&self, connection: &mut PgConnection) -> Result<Answer, StoreError> {
        self.take_user_total(connection).await?;
        let reservation = self.insert_reservation(connection).await?;
        let answer = Answer::created(reservation.id, self.receipts.body(&reservation));
        self.keyed.record(connection, &answer).await?;
        // Last, because whoever else wants a place waits from here to the end of the commit.
        self.take_stock(connection).await?;
        Ok(answer)
    }
}

impl Reserve {
    async fn take_user_total(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        let taken = sqlx::query(include_str!("sql/take_user_total.sql"))
            .bind(self.keyed.event.as_str())
            .bind(self.order.sub.as_str())
            .bind(self.order.basket.total())
            .execute(connection)
            .await?;
        refused_unless(taken.rows_affected() == 1, Refusal::PurchaseLimit)
    }

    async fn insert_reservation(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Reservation, StoreError> {
        let (sectors, quantities): (Vec<Uuid>, Vec<i32>) = self
            .order
            .basket
            .lines()
            .iter()
            .map(|&(sector, quantity)| (sector.0, quantity))
            .unzip();
        let rows: Vec<ReservationRow> = sqlx::query_as(include_str!("sql/insert_reservation.sql"))
            .bind(self.keyed.event.as_str())
            .bind(self.order.id.0)
            .bind(self.order.sub.as_str())
            .bind(sectors)
            .bind(quantities)
            .bind(self.order.admission.jti)
            .bind(self.order.admission.number.cast_signed())
            .fetch_all(connection)
            .await?;
        collected(rows).ok_or(StoreError::Refused(Refusal::NotFound))
    }

    async fn take_stock(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        for &(sector, quantity) in self.order.basket.lines() {
            let taken = sqlx::query(include_str!("sql/take_stock.sql"))
                .bind(self.keyed.event.as_str())
                .bind(sector.0)
                .bind(quantity)
                .execute(&mut *connection)
                .await?;
            refused_unless(taken.rows_affected() == 1, Refusal::SoldOut)?;
        }
        Ok(())
    }
}

fn refused_unless(allowed: bool, refusal: Refusal) -> Result<(), StoreError> {
    if allowed { Ok(()) } else { Err(StoreError::Refused(refusal)) }
}
