//! Looking after operations: single statements.

use shared::ids::EventId;
use sqlx::PgConnection;
use uuid::Uuid;

use super::super::StoreError;
use super::Operation;
use crate::payment::operation::Hold;
use crate::payment::provider::Order;

/// An operation that is this instance's for a while.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Taken {
    /// The operation.
    #[sqlx(flatten)]
    pub operation: Operation,
    charge_reference: Option<String>,
    /// Whether it is still wanted.
    #[sqlx(try_from = "String")]
    pub hold: Hold,
}

impl Taken {
    /// As the provider is told of it.
    pub fn order(&self) -> Order {
        self.operation.order(self.charge_reference.clone())
    }
}

/// Takes an operation that was never sent, to send it now.
pub async fn begin(
    connection: &mut PgConnection,
    event: &EventId,
    payment: Uuid,
    seconds: f64,
) -> Result<Option<Taken>, StoreError> {
    Ok(sqlx::query_as(include_str!("../sql/payments/begin.sql"))
        .bind(event.as_str())
        .bind(payment)
        .bind(seconds)
        .fetch_optional(connection)
        .await?)
}

/// The events that have operations to be looked after.
pub async fn due_events(connection: &mut PgConnection) -> Result<Vec<EventId>, StoreError> {
    let events: Vec<String> = sqlx::query_scalar(include_str!("../sql/payments/due_events.sql"))
        .fetch_all(connection)
        .await?;
    Ok(events.into_iter().filter_map(|event| event.parse().ok()).collect())
}

/// Takes operations of an event that have to be looked after.
pub async fn claim(
    connection: &mut PgConnection,
    event: &EventId,
    limit: i64,
    seconds: f64,
) -> Result<Vec<Taken>, StoreError> {
    Ok(sqlx::query_as(include_str!("../sql/payments/claim_due.sql"))
        .bind(event.as_str())
        .bind(limit)
        .bind(seconds)
        .fetch_all(connection)
        .await?)
}

/// Forgets a charge that was never sent. Whether it could be.
pub async fn give_up(
    connection: &mut PgConnection,
    operation: &Operation,
) -> Result<bool, StoreError> {
    let given_up = sqlx::query(include_str!("../sql/payments/give_up.sql"))
        .bind(operation.event.as_str())
        .bind(operation.id)
        .execute(connection)
        .await?;
    Ok(given_up.rows_affected() == 1)
}

/// Makes ready to try a refused refund again under another key.
pub async fn next_round(
    connection: &mut PgConnection,
    operation: &Operation,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("../sql/payments/next_round.sql"))
        .bind(operation.event.as_str())
        .bind(operation.id)
        .bind(operation.round)
        .execute(connection)
        .await?;
    Ok(())
}

/// Writes down what the provider calls a charge. False: it must not be made any more.
pub async fn name(
    connection: &mut PgConnection,
    order: &Order,
    reference: &str,
) -> Result<bool, StoreError> {
    let named = sqlx::query(include_str!("../sql/payments/name.sql"))
        .bind(order.event.as_str())
        .bind(order.payment)
        .bind(reference)
        .execute(connection)
        .await?;
    Ok(named.rows_affected() == 1)
}

/// Operations that are not done: kind, state, how many, age of the oldest in seconds.
pub async fn unsettled(
    connection: &mut PgConnection,
) -> Result<Vec<(String, String, i64, f64)>, StoreError> {
    Ok(sqlx::query_as(include_str!("../sql/payments/unsettled.sql")).fetch_all(connection).await?)
}

/// Forgets webhooks of an event that no provider sends again. How many.
pub async fn purge_webhooks(
    connection: &mut PgConnection,
    event: &EventId,
    age_seconds: f64,
    limit: i64,
) -> Result<u64, StoreError> {
    let purged = sqlx::query(include_str!("../sql/payments/purge_webhooks.sql"))
        .bind(event.as_str())
        .bind(age_seconds)
        .bind(limit)
        .execute(connection)
        .await?;
    Ok(purged.rows_affected())
}
