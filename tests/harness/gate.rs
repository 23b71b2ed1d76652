//! Stopping the sale just before it writes to the stock, and letting everybody go together.

use sqlx::{AssertSqlSafe, Postgres, Transaction};

use crate::ledger::{Ledger, SERVICE};
use crate::wait;

/// Has the lock of a sector's stock: whoever comes to the critical write waits there.
pub struct Gate {
    transaction: Transaction<'static, Postgres>,
    ledger: Ledger,
}

impl Gate {
    /// Takes the lock.
    ///
    /// # Panics
    /// When it cannot be had.
    #[expect(clippy::disallowed_methods, reason = "no request's future owns it")]
    pub async fn shut(ledger: &Ledger, sector: &str) -> Self {
        let mut transaction = ledger.pool().begin().await.expect("a transaction");
        sqlx::query("SELECT FROM sector_stock WHERE sector_id = $1::text::uuid FOR UPDATE")
            .bind(sector)
            .execute(&mut *transaction)
            .await
            .expect("the stock is locked");
        Self { transaction, ledger: ledger.clone() }
    }

    /// Waits until so many transactions of the service stand at the lock.
    pub async fn until_waiting(&self, count: i64) {
        wait::until("the service to come to the stock", async || {
            let waiting: i64 = sqlx::query_scalar(
                "SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = $1
                    AND wait_event_type = 'Lock'",
            )
            .bind(SERVICE)
            .fetch_one(self.ledger.pool())
            .await
            .expect("the activity is read");
            (waiting >= count).then_some(())
        })
        .await;
    }

    /// Writes something to what is locked, and lets all of them go.
    ///
    /// # Panics
    /// When it cannot be written.
    pub async fn write(mut self, sql: &str) {
        sqlx::query(AssertSqlSafe(sql.to_owned()))
            .execute(&mut *self.transaction)
            .await
            .expect("the stock is changed");
        self.transaction.commit().await.expect("a commit");
    }

    /// Lets all of them go.
    ///
    /// # Panics
    /// When the lock cannot be given back.
    pub async fn open(self) {
        self.transaction.rollback().await.expect("a rollback");
    }
}
