//! The schema.

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::Context;
use secrecy::SecretString;
use sqlx::migrate::Migrator;
use sqlx::pool::PoolConnection;
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Postgres};

use super::connect::options;
use super::{Store, StoreError};

/// How long to wait for Postgres, which may be starting too.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The advisory lock under which instances take turns: any number that is only ours.
const TURN: i64 = 0x5354_414e_4348_494f;
/// How often the lock is tried.
const TURN_INTERVAL: Duration = Duration::from_millis(100);

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrator = sqlx::migrate!("../migrations");
    // The way back from a release is the old code on the newer schema.
    migrator.set_ignore_missing(true);
    // We have our own, see `take_turn`.
    migrator.set_locking(false);
    migrator
});

/// Applies what is missing. Instances that do so at once take turns.
pub async fn migrate(url: &SecretString) -> anyhow::Result<()> {
    // A pool of its own: a migration may take longer than a statement of the sale. (And with a bare
    // connection rustc cannot tell that this future is Send.)
    let options = options(url).context("STANCHION_DATABASE_URL is not a Postgres URL")?;
    let pool = PgPoolOptions::new()
        .max_connections(2)
        .acquire_timeout(CONNECT_TIMEOUT)
        .connect_with(options)
        .await
        .context("Postgres (STANCHION_DATABASE_URL) cannot be reached")?;
    let turn = take_turn(&pool).await.context("the migrations could not be begun")?;
    MIGRATIONS.run(&pool).await.context("the migrations could not be applied")?;
    drop(turn);
    pool.close().await;
    Ok(())
}

/// Waits for this instance's turn, which ends with the connection. By asking again and again and
/// not, as the library does, in a statement that waits: `CREATE INDEX CONCURRENTLY` waits for all
/// statements that began before it, and the two would wait for one another.
async fn take_turn(pool: &PgPool) -> Result<PoolConnection<Postgres>, sqlx::Error> {
    let mut connection = pool.acquire().await?;
    loop {
        let is_ours: bool = sqlx::query_scalar(include_str!("sql/try_lock.sql"))
            .bind(TURN)
            .fetch_one(&mut *connection)
            .await?;
        if is_ours {
            return Ok(connection);
        }
        tokio::time::sleep(TURN_INTERVAL).await;
    }
}

/// Whether all migrations that this build knows are applied. A newer schema is fine: migrations
/// expand before they contract.
pub async fn is_current(store: &Store) -> Result<bool, StoreError> {
    let applied: i64 = sqlx::query_scalar(include_str!("sql/schema_version.sql"))
        .fetch_one(&mut *store.connection().await?)
        .await?;
    Ok(MIGRATIONS.iter().all(|migration| migration.version <= applied))
}
