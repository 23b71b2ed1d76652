//! Whether the counters are the sums of the rows.

use serde::Serialize;
use shared::ids::EventId;
use sqlx::PgConnection;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::store::StoreError;

/// People listed whose totals are wrong.
const USERS_MAX: i64 = 100;

/// One event's counters beside its rows.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Report {
    /// The event.
    pub event: EventId,
    /// Whether all counters are the sums of the rows.
    pub consistent: bool,
    /// Holds whose time has passed and that are not swept yet: no inconsistency, but no more than
    /// a sweep's worth.
    pub overdue_holds: i64,
    /// All sectors.
    pub sectors: Vec<SectorReport>,
    /// People whose totals are wrong, at most 100.
    pub users_differing: Vec<UserReport>,
}

/// One sector's counters, and the sums of its reservations' items.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
pub struct SectorReport {
    /// The sector.
    pub sector_id: Uuid,
    /// All places.
    pub capacity: i32,
    /// Places left.
    pub available: i32,
    /// Places kept.
    pub held: i32,
    /// Places sold.
    pub confirmed: i32,
    /// Places in reservations that are held.
    pub rows_held: i64,
    /// Places in reservations that are confirmed.
    pub rows_confirmed: i64,
}

/// One person's totals, and the sums of their reservations.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
pub struct UserReport {
    /// The person.
    pub sub: String,
    /// Places they hold.
    pub held: i64,
    /// Places they own.
    pub confirmed: i64,
    /// Places in their reservations that are held.
    pub rows_held: i64,
    /// Places in their reservations that are confirmed.
    pub rows_confirmed: i64,
}

impl SectorReport {
    fn is_consistent(&self) -> bool {
        i64::from(self.held) == self.rows_held
            && i64::from(self.confirmed) == self.rows_confirmed
            && i64::from(self.available) + self.rows_held + self.rows_confirmed
                == i64::from(self.capacity)
    }
}

/// Compares an event's counters with its rows. Each comparison is one statement, and so of one
/// moment, and can be made while the sale goes on.
pub async fn reconcile(
    connection: &mut PgConnection,
    event: EventId,
) -> Result<Report, StoreError> {
    let sectors: Vec<SectorReport> =
        sqlx::query_as(include_str!("store/sql/reconcile_sectors.sql"))
            .bind(event.as_str())
            .fetch_all(&mut *connection)
            .await?;
    let users_differing: Vec<UserReport> =
        sqlx::query_as(include_str!("store/sql/reconcile_users.sql"))
            .bind(event.as_str())
            .bind(USERS_MAX)
            .fetch_all(&mut *connection)
            .await?;
    let overdue_holds = sqlx::query_scalar(include_str!("store/sql/reconcile_overdue.sql"))
        .bind(event.as_str())
        .fetch_one(connection)
        .await?;
    let consistent = users_differing.is_empty() && sectors.iter().all(SectorReport::is_consistent);
    Ok(Report { event, consistent, overdue_holds, sectors, users_differing })
}
