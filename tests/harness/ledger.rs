//! The sale's tables, read and written past the service.

use std::time::Duration;

use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, FromRow, PgPool};
use uuid::Uuid;

use crate::wait;

/// Tables that a request may write to.
const WRITTEN: [&str; 5] =
    ["reservations", "reservation_items", "reservation_events", "user_totals", "idempotency_keys"];
/// What the service calls itself in its connections.
pub(crate) const SERVICE: &str = "stanchion-checkout";

/// One sector's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRow)]
pub struct Stock {
    /// All places.
    pub capacity: i32,
    /// Places left.
    pub available: i32,
    /// Places kept for somebody.
    pub held: i32,
    /// Places sold.
    pub confirmed: i32,
}

impl Stock {
    /// So many places, of which these are left, kept and sold.
    #[must_use]
    pub fn of(capacity: i32, available: i32, held: i32, confirmed: i32) -> Self {
        Self { capacity, available, held, confirmed }
    }
}

/// One database of the sale.
#[derive(Debug, Clone)]
pub struct Ledger {
    pool: PgPool,
}

impl Ledger {
    /// The database at this URL; connected to when it is first asked.
    ///
    /// # Panics
    /// When that is no URL.
    #[must_use]
    pub fn open(url: &str) -> Self {
        let options = PgPoolOptions::new().max_connections(3).acquire_timeout(wait::DEADLINE);
        Self { pool: options.connect_lazy(url).expect("a Postgres URL") }
    }

    /// For statements of a test's own.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// A sector's counters.
    ///
    /// # Panics
    /// When there is no such sector.
    pub async fn stock(&self, sector: &str) -> Stock {
        sqlx::query_as(
            "SELECT capacity, available, held, confirmed FROM sector_stock WHERE sector_id = $1",
        )
        .bind(id(sector))
        .fetch_one(&self.pool)
        .await
        .expect("the sector's stock")
    }

    /// Rows of a table.
    ///
    /// # Panics
    /// When it cannot be read.
    pub async fn rows(&self, table: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {table}")))
            .fetch_one(&self.pool)
            .await
            .expect("the table is read")
    }

    /// Asserts that no request has written anything.
    ///
    /// # Panics
    /// When one has.
    pub async fn assert_untouched(&self) {
        for table in WRITTEN {
            assert_eq!(self.rows(table).await, 0, "rows in {table}");
        }
    }

    /// A reservation's state as it is stored.
    ///
    /// # Panics
    /// When there is no such reservation.
    pub async fn state(&self, reservation: &str) -> String {
        sqlx::query_scalar("SELECT state FROM reservations WHERE reservation_id = $1")
            .bind(id(reservation))
            .fetch_one(&self.pool)
            .await
            .expect("the reservation")
    }

    /// Lets a hold's time pass after so long from now, without waiting for it.
    ///
    /// # Panics
    /// When there is no such hold.
    pub async fn expire_after(&self, reservation: &str, after: Duration) {
        let changed = sqlx::query(
            "UPDATE reservations SET expires_at = now() + make_interval(secs => $2)
             WHERE reservation_id = $1 AND state = 'held'",
        )
        .bind(id(reservation))
        .bind(after.as_secs_f64())
        .execute(&self.pool)
        .await
        .expect("the hold is changed");
        assert_eq!(changed.rows_affected(), 1, "{reservation} is not held");
    }

    /// Waits until a reservation is stored in this state.
    pub async fn becomes(&self, reservation: &str, state: &str) {
        wait::until("the reservation's state", async || {
            (self.state(reservation).await == state).then_some(())
        })
        .await;
    }

    /// Asserts that an event's counters are the sums of its rows.
    ///
    /// # Panics
    /// With what differs.
    pub async fn assert_balanced(&self, event: &str) {
        let sectors: Vec<(Uuid, i64, i64, i64, i64, i64)> = sqlx::query_as(
            "SELECT sector_id, capacity - available::bigint, held::bigint, confirmed::bigint,
                coalesce(sum(quantity) FILTER (WHERE state = 'held'), 0),
                coalesce(sum(quantity) FILTER (WHERE state = 'confirmed'), 0)
             FROM sector_stock AS stock
             LEFT JOIN (
                SELECT event_id, sector_id, state, items.quantity
                FROM reservation_items AS items JOIN reservations USING (event_id, reservation_id)
             ) AS rows USING (event_id, sector_id)
             WHERE event_id = $1
             GROUP BY sector_id, capacity, available, held, confirmed",
        )
        .bind(event)
        .fetch_all(&self.pool)
        .await
        .expect("the stock is read");
        for (sector, taken, held, confirmed, rows_held, rows_confirmed) in sectors {
            assert_eq!((held, confirmed), (rows_held, rows_confirmed), "sector {sector}");
            assert_eq!(taken, held + confirmed, "sector {sector}");
        }
        let people: Vec<(String, i64, i64)> = sqlx::query_as(
            "SELECT sub, coalesce(total, 0), coalesce(sum(quantity), 0)
             FROM (SELECT sub, (held + confirmed)::bigint AS total FROM user_totals WHERE event_id = $1)
                AS totals
             FULL JOIN (
                SELECT sub, quantity FROM reservations
                WHERE event_id = $1 AND state IN ('held', 'confirmed')
             ) AS rows USING (sub)
             GROUP BY sub, total
             HAVING coalesce(total, 0) <> coalesce(sum(quantity), 0)",
        )
        .bind(event)
        .fetch_all(&self.pool)
        .await
        .expect("the totals are read");
        assert!(people.is_empty(), "(person, total, rows): {people:?}");
    }

    /// When the service last sent a statement, as text; once it sends nothing any more.
    pub async fn last_statement(&self) -> String {
        let mut last = None;
        wait::until("the service to leave Postgres alone", async || {
            let now: Option<String> = sqlx::query_scalar(
                "SELECT max(query_start)::text FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = $1",
            )
            .bind(SERVICE)
            .fetch_one(&self.pool)
            .await
            .expect("the activity is read");
            let known = last.replace(now.clone());
            now.filter(|_| known == last)
        })
        .await
    }

    /// Asserts that no connection of the service is left in an open transaction, once all is quiet.
    ///
    /// # Panics
    /// When one is. The service lets Postgres end such a transaction after three seconds: it has to
    /// be seen before.
    pub async fn assert_no_open_transaction(&self) {
        wait::until("the service to be done", async || {
            let busy: Vec<(i32, String, f64)> = sqlx::query_as(
                "SELECT pid, state,
                    coalesce(extract(epoch FROM clock_timestamp() - xact_start), 0)::float8
                 FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = $1
                    AND state <> 'idle'",
            )
            .bind(SERVICE)
            .fetch_all(&self.pool)
            .await
            .expect("the activity is read");
            for (pid, state, seconds) in &busy {
                let left = state.starts_with("idle in transaction") && *seconds > 1.5;
                assert!(!left, "connection {pid} is {state} since {seconds} s");
            }
            busy.is_empty().then_some(())
        })
        .await;
    }
}

fn id(text: &str) -> Uuid {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is not an id"))
}
