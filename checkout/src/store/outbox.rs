//! What happened to reservations, on its way to the shop. Single statements: the rows themselves are
//! written by whatever changes a reservation, in its own transaction.

use std::collections::HashMap;
use std::time::Duration;

use shared::ids::EventId;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::StoreError;
use super::read::{self, ReservationRow};
use crate::outbox::kind::Kind;
use crate::outbox::message::{Happened, MessageId};
use crate::sale::receipt::Reservation;

/// Rows of one event that are counted as its backlog; more are that many.
const BACKLOG_COUNT_MAX: i64 = 10_000;
/// Rows at either end of the backlog among which the oldest is looked for.
const OLDEST_AMONG: i64 = 1_000;

/// Something to be told, which nobody else tells before the claim's time is over.
#[derive(Debug)]
pub struct Claim {
    /// The event.
    pub event: EventId,
    /// What happened.
    pub happened: Happened,
    /// The reservation as it is now, if it is there with its items.
    pub reservation: Option<Reservation>,
    /// Attempts that have failed.
    pub attempts: u32,
    /// The claim is known by it.
    due_at: OffsetDateTime,
}

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// The shop was told.
    Delivered,
    /// It was not, and is to be told later.
    Failed {
        /// Why.
        reason: String,
        /// When.
        pause: Duration,
    },
    /// It was not, and is not to be told any more unless an operator says so.
    Dead {
        /// Why.
        reason: String,
    },
}

/// What waits to be told.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub struct Backlog {
    /// How much; of one event it is counted up to 10,000.
    pub pending: i64,
    /// For how long the oldest of it has waited.
    pub oldest_seconds: f64,
}

#[derive(sqlx::FromRow)]
struct ClaimRow {
    reservation_id: Uuid,
    version: i32,
    #[sqlx(try_from = "String")]
    kind: Kind,
    happened_at: OffsetDateTime,
    expires_at: Option<OffsetDateTime>,
    due_at: OffsetDateTime,
    attempts: i32,
    is_claimed: bool,
}

impl Settled {
    /// Its name in the database and in metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Failed { .. } => "failed",
            Self::Dead { .. } => "dead",
        }
    }
}

/// Events that have something to be told by now.
pub async fn due_events(connection: &mut PgConnection) -> Result<Vec<EventId>, StoreError> {
    let events: Vec<String> =
        sqlx::query_scalar(include_str!("sql/outbox_due_events.sql")).fetch_all(connection).await?;
    Ok(events.into_iter().filter_map(|event| event.parse().ok()).collect())
}

/// Claims at most so much of what is due, for so long. Less may come of it than there is: somebody else
/// was faster, or it is not its reservation's turn yet and is put off.
pub async fn claim(
    connection: &mut PgConnection,
    event: &EventId,
    limit: usize,
    lease: Duration,
) -> Result<Vec<Claim>, StoreError> {
    let due: Vec<(Uuid, i32, OffsetDateTime)> = sqlx::query_as(include_str!("sql/outbox_due.sql"))
        .bind(event.as_str())
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .bind(Kind::ALL.map(Kind::as_str).as_slice())
        .fetch_all(&mut *connection)
        .await?;
    let mut rows = Vec::with_capacity(due.len());
    for (reservation, version, due_at) in due {
        let row: Option<ClaimRow> = sqlx::query_as(include_str!("sql/outbox_claim.sql"))
            .bind(event.as_str())
            .bind(reservation)
            .bind(version)
            .bind(due_at)
            .bind(lease.as_secs_f64())
            .fetch_optional(&mut *connection)
            .await?;
        rows.extend(row.filter(|row| row.is_claimed));
    }
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = rows.iter().map(|row| row.reservation_id).collect();
    let mut reservations = reservations(connection, event, &ids).await?;
    let claim = |row: ClaimRow| Claim {
        event: event.clone(),
        happened: Happened {
            id: MessageId { reservation: row.reservation_id, version: row.version },
            kind: row.kind,
            at: row.happened_at,
            expires_at: row.expires_at,
        },
        // One claim a reservation at most.
        reservation: reservations.remove(&row.reservation_id),
        attempts: u32::try_from(row.attempts).unwrap_or(0),
        due_at: row.due_at,
    };
    Ok(rows.into_iter().map(claim).collect())
}

async fn reservations(
    connection: &mut PgConnection,
    event: &EventId,
    ids: &[Uuid],
) -> Result<HashMap<Uuid, Reservation>, StoreError> {
    let rows: Vec<ReservationRow> = sqlx::query_as(include_str!("sql/outbox_reservations.sql"))
        .bind(event.as_str())
        .bind(ids)
        .fetch_all(connection)
        .await?;
    Ok(read::collected_each(rows).into_iter().map(|found| (found.id.0, found)).collect())
}

/// Says what became of a claim. False if its time is over and somebody else has claimed it since.
pub async fn settle(
    connection: &mut PgConnection,
    claim: &Claim,
    settled: &Settled,
) -> Result<bool, StoreError> {
    let (pause, reason) = match settled {
        Settled::Delivered => (0.0, None),
        Settled::Failed { reason, pause } => (pause.as_secs_f64(), Some(reason)),
        Settled::Dead { reason } => (0.0, Some(reason)),
    };
    let count: i64 = sqlx::query_scalar(include_str!("sql/outbox_settle.sql"))
        .bind(claim.event.as_str())
        .bind(claim.happened.id.reservation)
        .bind(claim.happened.id.version)
        .bind(claim.due_at)
        .bind(settled.name())
        .bind(pause)
        .bind(reason)
        .fetch_one(connection)
        .await?;
    Ok(count == 1)
}

/// What waits to be told, of one event or of all.
pub async fn backlog(
    connection: &mut PgConnection,
    event: Option<&EventId>,
) -> Result<Backlog, StoreError> {
    Ok(sqlx::query_as(include_str!("sql/outbox_backlog.sql"))
        .bind(event.map(EventId::as_str))
        .bind(BACKLOG_COUNT_MAX)
        .bind(OLDEST_AMONG)
        .fetch_one(connection)
        .await?)
}

/// Forgets what was delivered longer ago, about so much. Returns how much.
pub async fn purge(
    connection: &mut PgConnection,
    event: &EventId,
    retention_seconds: u32,
    limit: u32,
) -> Result<u64, StoreError> {
    let sql = include_str!("sql/outbox_purge.sql");
    purge_by(sql, connection, event, retention_seconds, limit).await
}

/// Forgets what nobody has tried to deliver for so long, about so much. Returns how much.
pub async fn purge_unwanted(
    connection: &mut PgConnection,
    event: &EventId,
    after_seconds: u32,
    limit: u32,
) -> Result<u64, StoreError> {
    let sql = include_str!("sql/outbox_purge_unwanted.sql");
    purge_by(sql, connection, event, after_seconds, limit).await
}

async fn purge_by(
    sql: &'static str,
    connection: &mut PgConnection,
    event: &EventId,
    seconds: u32,
    limit: u32,
) -> Result<u64, StoreError> {
    let purged: i64 = sqlx::query_scalar(sql)
        .bind(event.as_str())
        .bind(f64::from(seconds))
        .bind(i64::from(limit))
        .fetch_one(connection)
        .await?;
    Ok(purged.cast_unsigned())
}
