//! What the shop was not told and is not to be told any more, unless an operator says so.

use shared::ids::EventId;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::StoreError;
use crate::outbox::message::MessageId;

/// What was given up.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct DeadLetter {
    /// The reservation.
    pub reservation_id: Uuid,
    /// What happened to it first is 1.
    pub version: i32,
    /// What happened.
    pub kind: String,
    /// When.
    pub happened_at: OffsetDateTime,
    /// Attempts.
    pub attempts: i32,
    /// When it was given up.
    pub dead_at: OffsetDateTime,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

/// What was given up, the newest first, and how much there is in all.
pub async fn dead_letters(
    connection: &mut PgConnection,
    event: &EventId,
    limit: i64,
) -> Result<(Vec<DeadLetter>, i64), StoreError> {
    let letters = sqlx::query_as(include_str!("sql/outbox_dead.sql"))
        .bind(event.as_str())
        .bind(limit)
        .fetch_all(&mut *connection)
        .await?;
    let count = sqlx::query_scalar(include_str!("sql/outbox_count_dead.sql"))
        .bind(event.as_str())
        .fetch_one(connection)
        .await?;
    Ok((letters, count))
}

/// Has what was given up tried again: one message, or about so many. Returns how many.
pub async fn replay(
    connection: &mut PgConnection,
    event: &EventId,
    message: Option<MessageId>,
    limit: u32,
) -> Result<u64, StoreError> {
    let query = match message {
        Some(message) => sqlx::query(include_str!("sql/outbox_replay_one.sql"))
            .bind(event.as_str())
            .bind(message.reservation)
            .bind(message.version),
        None => sqlx::query(include_str!("sql/outbox_replay.sql"))
            .bind(event.as_str())
            .bind(i64::from(limit)),
    };
    Ok(query.execute(connection).await?.rows_affected())
}
