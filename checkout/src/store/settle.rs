//! Moving what leaves `held` in the counters.

use shared::ids::{EventId, SectorId, Subject};
use sqlx::PgConnection;
use sqlx::postgres::PgQueryResult;

use super::StoreError;

/// Places that leave `held`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leaving {
    /// Back to the stock.
    Returned(i32),
    /// To their owner.
    Sold(i32),
}

impl Leaving {
    fn split(self) -> (i32, i32) {
        match self {
            Self::Returned(quantity) => (quantity, 0),
            Self::Sold(quantity) => (0, quantity),
        }
    }
}

/// In the owner's total.
pub(super) async fn user_total(
    connection: &mut PgConnection,
    event: &EventId,
    sub: &Subject,
    leaving: Leaving,
) -> Result<(), StoreError> {
    let (returned, sold) = leaving.split();
    let settled = sqlx::query(include_str!("sql/settle_user_total.sql"))
        .bind(event.as_str())
        .bind(sub.as_str())
        .bind(returned)
        .bind(sold)
        .execute(connection)
        .await?;
    one_row(&settled)
}

/// In the sector's stock.
pub(super) async fn stock(
    connection: &mut PgConnection,
    event: &EventId,
    sector: SectorId,
    leaving: Leaving,
) -> Result<(), StoreError> {
    let (returned, sold) = leaving.split();
    let settled = sqlx::query(include_str!("sql/settle_stock.sql"))
        .bind(event.as_str())
        .bind(sector.0)
        .bind(returned)
        .bind(sold)
        .execute(connection)
        .await?;
    one_row(&settled)
}

/// A counter that is not there must not be passed over in silence.
fn one_row(result: &PgQueryResult) -> Result<(), StoreError> {
    if result.rows_affected() == 1 {
        Ok(())
    } else {
        Err(StoreError::Unexpected(sqlx::Error::RowNotFound))
    }
}
