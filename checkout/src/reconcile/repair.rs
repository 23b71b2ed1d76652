//! Setting counters right from the rows, and adding to the outbox what is not in it.
//!
//! One transaction for an event, which locks as everybody does (see `store`): people's totals, then the
//! stock. It counts what it sets right after it has the lock: whoever has changed rows by then has either
//! committed, and is counted, or waits for that lock, and is not. So it can be done during a sale, which
//! waits for as long as the counting takes.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use shared::ids::EventId;
use sqlx::PgConnection;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{SectorReport, reservations, sectors, users};
use crate::store::transaction::{self, Work};
use crate::store::{Store, StoreError};
use crate::tasks::Tasks;

/// Sets an event right, in one transaction.
///
/// # Errors
/// When Postgres cannot be asked, or somebody else has a lock for too long; nothing was changed then.
pub async fn repair(store: &Arc<Store>, event: EventId) -> anyhow::Result<Repaired> {
    let store = store.clone();
    let tasks = Tasks::default();
    let repaired =
        tasks.run(|owned| async move { transaction::run(&owned, &store, &Repair { event }).await });
    let repaired = repaired.await.map_err(|problem| anyhow::anyhow!(problem.body()))?;
    Ok(repaired?)
}

/// An event that is to be set right.
pub struct Repair {
    /// The event.
    pub event: EventId,
}

/// What was set right, and what was left.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Repaired {
    /// Sectors whose counters were set to the sums of the rows.
    pub sectors: Vec<Uuid>,
    /// People whose totals were.
    pub users: usize,
    /// Reservations whose last change was added to the outbox.
    pub told: u64,
    /// What was left as it is, and why.
    pub left: Vec<String>,
}

impl Work for Repair {
    type Output = Repaired;

    async fn run(&self, connection: &mut PgConnection) -> Result<Repaired, StoreError> {
        let mut repaired = Repaired::default();
        if let Some(damage) = self.damage(connection).await? {
            // By such rows places that are sold might be put on sale again.
            repaired.left.push(format!("all counters: {damage}, so the rows are no measure"));
        } else {
            repaired.users = self.repair_users(connection).await?;
            self.repair_sectors(connection, &mut repaired).await?;
        }
        let told = sqlx::query(include_str!("../store/sql/repair_untold.sql"))
            .bind(self.event.as_str())
            .execute(connection)
            .await?;
        repaired.told = told.rows_affected();
        Ok(repaired)
    }
}

impl Repair {
    /// What is wrong with the rows themselves, which nothing here can set right.
    async fn damage(&self, connection: &mut PgConnection) -> Result<Option<String>, StoreError> {
        let orphan: Option<(Uuid, Uuid, i32)> =
            sqlx::query_as(include_str!("../store/sql/reconcile_orphans.sql"))
                .bind(self.event.as_str())
                .bind(1_i64)
                .fetch_optional(&mut *connection)
                .await?;
        if let Some((reservation, ..)) = orphan {
            return Ok(Some(format!("there are items of reservation {reservation}, which is not")));
        }
        let differing = reservations(connection, &self.event, i64::MAX).await?;
        let live = |state: &str| state == "held" || state == "confirmed";
        let differing = differing.into_iter().find(|found| live(&found.state));
        Ok(differing.map(|found| {
            format!("reservation {} is not the sum of its items", found.reservation_id)
        }))
    }

    async fn repair_users(&self, connection: &mut PgConnection) -> Result<usize, StoreError> {
        let event = self.event.as_str();
        let differing = users(connection, &self.event, i64::MAX).await?;
        let locked: HashSet<String> = differing.into_iter().map(|user| user.sub).collect();
        let subs: Vec<&str> = locked.iter().map(String::as_str).collect();
        if subs.is_empty() {
            return Ok(0);
        }
        sqlx::query(include_str!("../store/sql/repair_missing_totals.sql"))
            .bind(event)
            .bind(&subs)
            .execute(&mut *connection)
            .await?;
        sqlx::query(include_str!("../store/sql/lock_user_totals.sql"))
            .bind(event)
            .bind(&subs)
            .execute(&mut *connection)
            .await?;
        let mut repaired = 0;
        for user in users(connection, &self.event, i64::MAX).await? {
            let (Ok(held), Ok(confirmed)) =
                (i32::try_from(user.rows_held), i32::try_from(user.rows_confirmed))
            else {
                continue;
            };
            if locked.contains(&user.sub) {
                sqlx::query(include_str!("../store/sql/repair_user_total.sql"))
                    .bind(event)
                    .bind(&user.sub)
                    .bind(held)
                    .bind(confirmed)
                    .execute(&mut *connection)
                    .await?;
                repaired += 1;
            }
        }
        Ok(repaired)
    }

    async fn repair_sectors(
        &self,
        connection: &mut PgConnection,
        repaired: &mut Repaired,
    ) -> Result<(), StoreError> {
        sqlx::query(include_str!("../store/sql/lock_stock.sql"))
            .bind(self.event.as_str())
            .execute(&mut *connection)
            .await?;
        for sector in sectors(connection, &self.event).await? {
            if sector.is_consistent() {
                continue;
            }
            let Some((held, confirmed)) = counters(&sector) else {
                repaired.left.push(oversold(&sector));
                continue;
            };
            sqlx::query(include_str!("../store/sql/repair_stock.sql"))
                .bind(self.event.as_str())
                .bind(sector.sector_id)
                .bind(held)
                .bind(confirmed)
                .execute(&mut *connection)
                .await?;
            repaired.sectors.push(sector.sector_id);
        }
        Ok(())
    }
}

/// What a sector's counters are to be, if its capacity allows it.
fn counters(sector: &SectorReport) -> Option<(i32, i32)> {
    if sector.rows_held + sector.rows_confirmed > i64::from(sector.capacity) {
        return None;
    }
    Some((sector.rows_held.try_into().ok()?, sector.rows_confirmed.try_into().ok()?))
}

fn oversold(sector: &SectorReport) -> String {
    let taken = sector.rows_held + sector.rows_confirmed;
    format!(
        "sector {}: {taken} places are held and sold, of {}; raise its capacity or let some go",
        sector.sector_id, sector.capacity
    )
}
