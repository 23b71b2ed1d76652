//! Whether counters, rows and outbox agree.

pub mod repair;

use serde::Serialize;
use shared::ids::EventId;
use sqlx::PgConnection;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::store::StoreError;
use repair::Repaired;

/// Entries of a list of differences.
const LISTED_MAX: i64 = 100;

/// One event's counters and outbox beside its rows.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Report {
    /// The event.
    pub event: EventId,
    /// Whether nothing differs.
    pub consistent: bool,
    /// Holds whose time has passed and that are not swept yet: no inconsistency, but no more than
    /// a sweep's worth.
    pub overdue_holds: i64,
    /// All sectors.
    pub sectors: Vec<SectorReport>,
    /// People whose totals are wrong, at most 100.
    pub users_differing: Vec<UserReport>,
    /// Items whose reservation is not there, at most 100.
    pub orphan_items: Vec<OrphanItem>,
    /// Reservations that are not the sums of their items, at most 100.
    pub reservations_differing: Vec<ReservationReport>,
    /// Reservations whose last change is not in the outbox, at most 100; without those whose row has been
    /// forgotten after its retention.
    pub untold: Vec<Untold>,
    /// What was set right before, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<Repaired>,
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

/// An item whose reservation is not there.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
pub struct OrphanItem {
    /// The reservation that should be there.
    pub reservation_id: Uuid,
    /// The sector.
    pub sector_id: Uuid,
    /// Places.
    pub quantity: i32,
}

/// A reservation, and the sums of its items: none if it has none.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
pub struct ReservationReport {
    /// The reservation.
    pub reservation_id: Uuid,
    /// Its state.
    pub state: String,
    /// Its places.
    pub quantity: i32,
    /// What it costs, in the currency's minor unit.
    pub total: i64,
    /// Places of its items.
    pub items_quantity: i64,
    /// What its items cost.
    pub items_total: i64,
}

/// A reservation whose last change is not in the outbox.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
pub struct Untold {
    /// The reservation.
    pub reservation_id: Uuid,
    /// Its state.
    pub state: String,
    /// How much has happened to it.
    pub version: i32,
}

impl SectorReport {
    /// Whether the counters are the sums.
    pub fn is_consistent(&self) -> bool {
        i64::from(self.held) == self.rows_held
            && i64::from(self.confirmed) == self.rows_confirmed
            && i64::from(self.available) + self.rows_held + self.rows_confirmed
                == i64::from(self.capacity)
    }
}

/// Compares an event's counters and outbox with its rows, and changes nothing. Each comparison is one
/// statement, and so of one moment, and can be made while the sale goes on.
pub async fn reconcile(
    connection: &mut PgConnection,
    event: EventId,
) -> Result<Report, StoreError> {
    let sectors = sectors(connection, &event).await?;
    let users_differing = users(connection, &event, LISTED_MAX).await?;
    let orphan_items = listed(include_str!("store/sql/reconcile_orphans.sql"))
        .bind(event.as_str())
        .bind(LISTED_MAX)
        .fetch_all(&mut *connection)
        .await?;
    let reservations_differing = reservations(connection, &event, LISTED_MAX).await?;
    let untold = listed(include_str!("store/sql/reconcile_untold.sql"))
        .bind(event.as_str())
        .bind(LISTED_MAX)
        .fetch_all(&mut *connection)
        .await?;
    let overdue_holds = sqlx::query_scalar(include_str!("store/sql/reconcile_overdue.sql"))
        .bind(event.as_str())
        .fetch_one(connection)
        .await?;
    let mut report = Report {
        event,
        consistent: false,
        overdue_holds,
        sectors,
        users_differing,
        orphan_items,
        reservations_differing,
        untold,
        repair: None,
    };
    report.consistent = report.users_differing.is_empty()
        && report.orphan_items.is_empty()
        && report.reservations_differing.is_empty()
        && report.untold.is_empty()
        && report.sectors.iter().all(SectorReport::is_consistent);
    Ok(report)
}

async fn sectors(
    connection: &mut PgConnection,
    event: &EventId,
) -> Result<Vec<SectorReport>, StoreError> {
    let sectors = listed(include_str!("store/sql/reconcile_sectors.sql")).bind(event.as_str());
    Ok(sectors.fetch_all(connection).await?)
}

async fn users(
    connection: &mut PgConnection,
    event: &EventId,
    limit: i64,
) -> Result<Vec<UserReport>, StoreError> {
    let users = listed(include_str!("store/sql/reconcile_users.sql")).bind(event.as_str());
    Ok(users.bind(limit).fetch_all(connection).await?)
}

async fn reservations(
    connection: &mut PgConnection,
    event: &EventId,
    limit: i64,
) -> Result<Vec<ReservationReport>, StoreError> {
    let sql = include_str!("store/sql/reconcile_reservations.sql");
    Ok(listed(sql).bind(event.as_str()).bind(limit).fetch_all(connection).await?)
}

fn listed<T>(
    sql: &'static str,
) -> sqlx::query::QueryAs<'static, sqlx::Postgres, T, sqlx::postgres::PgArguments>
where
    T: for<'row> sqlx::FromRow<'row, sqlx::postgres::PgRow>,
{
    sqlx::query_as(sql)
}
