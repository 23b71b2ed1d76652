//! A payment that comes after its hold has ended: the same places again, if there are any.

use shared::ids::ReservationId;
use sqlx::PgConnection;

use super::super::StoreError;
use super::super::settle::{self, Leaving};
use crate::sale::Refusal;
use crate::sale::receipt::Reservation;

/// Buys the places of an expired reservation again, under another name; or says why not, with nothing
/// changed. Whatever it locks, it locks in the order of [`super::super`].
pub(super) async fn recover(
    connection: &mut PgConnection,
    paid: &Reservation,
    name: ReservationId,
) -> Result<Result<(), Refusal>, StoreError> {
    let quantity = paid.items.iter().map(|item| item.quantity).sum();
    // Until it is swept the places are still kept, for nobody any more: nothing has to be taken.
    let kept = expire(connection, paid).await?;
    sqlx::query(include_str!("../sql/payments/savepoint.sql")).execute(&mut *connection).await?;
    if !kept && !take_total(connection, paid, quantity).await? {
        return Ok(Err(Refusal::PurchaseLimit));
    }
    settle::user_total(connection, &paid.event, &paid.sub, Leaving::Sold(quantity)).await?;
    sqlx::query(include_str!("../sql/payments/insert_recovery.sql"))
        .bind(paid.event.as_str())
        .bind(name.0)
        .bind(paid.id.0)
        .execute(&mut *connection)
        .await?;
    for item in &paid.items {
        let taken = kept || {
            let taken = sqlx::query(include_str!("../sql/take_stock.sql"))
                .bind(paid.event.as_str())
                .bind(item.sector_id.0)
                .bind(item.quantity)
                .execute(&mut *connection)
                .await?;
            taken.rows_affected() == 1
        };
        if !taken {
            sqlx::query(include_str!("../sql/payments/undo.sql")).execute(connection).await?;
            return Ok(Err(Refusal::SoldOut));
        }
        let sold = Leaving::Sold(item.quantity);
        settle::stock(connection, &paid.event, item.sector_id, sold).await?;
    }
    Ok(Ok(()))
}

/// Ends the hold if the sweeper has not. Whether it was still there to be ended.
async fn expire(connection: &mut PgConnection, paid: &Reservation) -> Result<bool, StoreError> {
    let expired = sqlx::query(include_str!("../sql/payments/expire_one.sql"))
        .bind(paid.event.as_str())
        .bind(paid.id.0)
        .execute(connection)
        .await?;
    Ok(expired.rows_affected() == 1)
}

async fn take_total(
    connection: &mut PgConnection,
    paid: &Reservation,
    quantity: i32,
) -> Result<bool, StoreError> {
    let taken = sqlx::query(include_str!("../sql/take_user_total.sql"))
        .bind(paid.event.as_str())
        .bind(paid.sub.as_str())
        .bind(quantity)
        .execute(connection)
        .await?;
    Ok(taken.rows_affected() == 1)
}
