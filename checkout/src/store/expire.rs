//! Ending holds whose time has passed.

use std::collections::BTreeMap;

use shared::ids::{EventId, ReservationId, SectorId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::StoreError;
use super::settle::{self, Leaving};
use super::transaction::Work;

/// Holds to be ended, if their time has passed and nobody else has them at hand.
pub struct Expire {
    /// Their event.
    pub event: EventId,
    /// Their names.
    pub reservations: Vec<Uuid>,
}

#[derive(sqlx::FromRow)]
struct Expired {
    reservation_id: Uuid,
    sub: String,
    quantity: i32,
}

/// Events that have holds whose time has passed.
pub async fn overdue_events(connection: &mut PgConnection) -> Result<Vec<EventId>, StoreError> {
    let events: Vec<String> =
        sqlx::query_scalar(include_str!("sql/overdue_events.sql")).fetch_all(connection).await?;
    Ok(events.into_iter().filter_map(|event| event.parse().ok()).collect())
}

/// Holds of an event whose time has passed, longest ago first, without those of `leaving_out`.
pub async fn overdue_holds(
    connection: &mut PgConnection,
    event: &EventId,
    leaving_out: &[Uuid],
    limit: i64,
) -> Result<Vec<Uuid>, StoreError> {
    Ok(sqlx::query_scalar(include_str!("sql/overdue_holds.sql"))
        .bind(event.as_str())
        .bind(leaving_out)
        .bind(limit)
        .fetch_all(connection)
        .await?)
}

/// How many holds are overdue over all events, counted up to `limit`.
pub async fn count_overdue(connection: &mut PgConnection, limit: i64) -> Result<i64, StoreError> {
    let count = sqlx::query_scalar(include_str!("sql/count_overdue.sql")).bind(limit);
    Ok(count.fetch_one(connection).await?)
}

impl Work for Expire {
    /// Those that were ended.
    type Output = Vec<ReservationId>;

    async fn run(&self, connection: &mut PgConnection) -> Result<Vec<ReservationId>, StoreError> {
        let expired: Vec<Expired> = sqlx::query_as(include_str!("sql/expire.sql"))
            .bind(self.event.as_str())
            .bind(&self.reservations)
            .fetch_all(&mut *connection)
            .await?;
        if !expired.is_empty() {
            self.return_user_totals(connection, &expired).await?;
            self.return_stock(connection, &expired).await?;
        }
        Ok(expired.iter().map(|hold| ReservationId(hold.reservation_id)).collect())
    }
}

impl Expire {
    async fn return_user_totals(
        &self,
        connection: &mut PgConnection,
        expired: &[Expired],
    ) -> Result<(), StoreError> {
        let mut by_sub = BTreeMap::new();
        for hold in expired {
            *by_sub.entry(hold.sub.as_str()).or_insert(0) += hold.quantity;
        }
        let (subs, quantities): (Vec<&str>, Vec<i32>) = by_sub.into_iter().unzip();
        let missing: Vec<bool> = sqlx::query_scalar(include_str!("sql/return_user_totals.sql"))
            .bind(self.event.as_str())
            .bind(&subs)
            .bind(&quantities)
            .fetch_all(connection)
            .await?;
        // What was inserted is rolled back.
        if missing.contains(&true) {
            return Err(StoreError::Unexpected(sqlx::Error::RowNotFound));
        }
        Ok(())
    }

    async fn return_stock(
        &self,
        connection: &mut PgConnection,
        expired: &[Expired],
    ) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = expired.iter().map(|hold| hold.reservation_id).collect();
        let sums: Vec<(Uuid, i32)> = sqlx::query_as(include_str!("sql/quantities_by_sector.sql"))
            .bind(self.event.as_str())
            .bind(ids)
            .fetch_all(&mut *connection)
            .await?;
        for (sector, quantity) in sums {
            let leaving = Leaving::Returned(quantity);
            settle::stock(connection, &self.event, SectorId(sector), leaving).await?;
        }
        Ok(())
    }
}
