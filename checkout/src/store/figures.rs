//! What whoever watches a sale is shown of it: three bounded statements.

use serde::Serialize;
use shared::ids::EventId;
use sqlx::PgConnection;
use utoipa::ToSchema;

use super::StoreError;
use super::read::{self, Sector};

/// Counting stops here, so that it stays cheap when it is needed most.
const COUNT_MAX: i64 = 10_000;

/// What is in the database of one event.
#[derive(Debug)]
pub struct Stored {
    /// Its sectors, ascending.
    pub sectors: Vec<Sector>,
    /// Holds whose time has passed.
    pub overdue: Overdue,
    /// Payment operations that are not done.
    pub unsettled: Vec<Unsettled>,
}

/// Holds whose time has passed and that nobody has ended yet.
#[derive(Debug, Clone, Copy, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = OverdueHolds)]
pub struct Overdue {
    /// How many; counts to 10,000.
    pub count: i64,
    /// For how long the first of them has been, in seconds; 0 when there is none.
    pub oldest_seconds: i64,
}

/// Payment operations that are not done, of one kind and state.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = UnsettledPayments)]
pub struct Unsettled {
    /// `charge` or `refund`.
    #[schema(example = "charge")]
    pub kind: String,
    /// `created`, `submitted`, `unknown`; a refund that is `failed` was refused.
    #[schema(example = "submitted")]
    pub state: String,
    /// How many; all of them together count to 10,000.
    pub count: i64,
    /// How long the oldest of them has been there, in seconds.
    pub oldest_seconds: i64,
}

/// Reads them.
pub async fn read(connection: &mut PgConnection, event: &EventId) -> Result<Stored, StoreError> {
    let sectors = read::sectors(&mut *connection, event).await?;
    let overdue = sqlx::query_as(include_str!("sql/figures_overdue.sql"))
        .bind(event.as_str())
        .bind(COUNT_MAX)
        .fetch_one(&mut *connection)
        .await?;
    let unsettled = sqlx::query_as(include_str!("sql/figures_unsettled.sql"))
        .bind(event.as_str())
        .bind(COUNT_MAX)
        .fetch_all(connection)
        .await?;
    Ok(Stored { sectors, overdue, unsettled })
}
