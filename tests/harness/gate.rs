//! Stopping the sale just before a critical write, and letting everybody go together.

use sqlx::{AssertSqlSafe, Postgres, Transaction};

use crate::ledger::{Ledger, SERVICE};
use crate::wait;

/// Makes the service's statements wait for the gate, and nobody else's. Before a statement it has its view
/// of the rows already: it goes on by what was true when it came to the gate.
const STAND_STILL: &str = "
    CREATE OR REPLACE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF current_setting('application_name') = 'stanchion-checkout' THEN
                PERFORM pg_advisory_xact_lock_shared(1);
            END IF;
            RETURN NULL;
        END $$;";

/// Has a lock that the service needs: whoever comes to the critical write waits there. Not for longer
/// than a second: the service waits for no lock longer than that.
pub struct Gate {
    transaction: Transaction<'static, Postgres>,
    ledger: Ledger,
}

impl Gate {
    /// Takes the lock of a sector's stock.
    pub async fn shut(ledger: &Ledger, sector: &str) -> Self {
        let sector: uuid::Uuid = sector.parse().expect("an id");
        let lock = format!("SELECT FROM sector_stock WHERE sector_id = '{sector}' FOR UPDATE");
        Self::at(ledger, &lock).await
    }

    /// Takes the locks that this statement takes.
    ///
    /// # Panics
    /// When they cannot be had.
    #[expect(clippy::disallowed_methods, reason = "no request's future owns it")]
    pub async fn at(ledger: &Ledger, lock: &str) -> Self {
        let mut transaction = ledger.pool().begin().await.expect("a transaction");
        sqlx::query(AssertSqlSafe(lock.to_owned()))
            .execute(&mut *transaction)
            .await
            .expect("what is to be locked is locked");
        Self { transaction, ledger: ledger.clone() }
    }

    /// Stops the service's statements of a kind: `"BEFORE UPDATE ON reservations"`.
    ///
    /// # Panics
    /// When the trigger cannot be made.
    pub async fn trigger(ledger: &Ledger, when: &str) -> Self {
        let trigger = format!(
            "{STAND_STILL} CREATE OR REPLACE TRIGGER gate {when}
             FOR EACH STATEMENT EXECUTE FUNCTION stand_still();"
        );
        sqlx::raw_sql(AssertSqlSafe(trigger)).execute(ledger.pool()).await.expect("a trigger");
        Self::at(ledger, "SELECT pg_advisory_xact_lock(1)").await
    }

    /// Waits until so many transactions of the service stand at the lock.
    pub async fn until_waiting(&self, count: i64) {
        wait::until("the service to come to the gate", async || {
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
