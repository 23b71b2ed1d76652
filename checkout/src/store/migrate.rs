//! The schema.

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::Context;
use secrecy::SecretString;
use sqlx::migrate::Migrator;
use sqlx::postgres::PgPoolOptions;

use super::connect::options;
use super::{Store, StoreError};

/// How long to wait for Postgres, which may be starting too.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrator = sqlx::migrate!("../migrations");
    // The way back from a release is the old code on the newer schema.
    migrator.set_ignore_missing(true);
    migrator
});

/// Applies what is missing. Instances that do so at once take turns.
pub async fn migrate(url: &SecretString) -> anyhow::Result<()> {
    // A pool of its own: a migration may take longer than a statement of the sale. (And with a bare
    // connection rustc cannot tell that this future is Send.)
    let options = options(url).context("STANCHION_DATABASE_URL is not a Postgres URL")?;
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(CONNECT_TIMEOUT)
        .connect_with(options)
        .await
        .context("Postgres (STANCHION_DATABASE_URL) cannot be reached")?;
    MIGRATIONS.run(&pool).await.context("the migrations could not be applied")?;
    pool.close().await;
    Ok(())
}

/// Whether all migrations that this build knows are applied. A newer schema is fine: migrations
/// expand before they contract.
pub async fn is_current(store: &Store) -> Result<bool, StoreError> {
    let applied: i64 = sqlx::query_scalar(include_str!("sql/schema_version.sql"))
        .fetch_one(&mut *store.connection().await?)
        .await?;
    Ok(MIGRATIONS.iter().all(|migration| migration.version <= applied))
}
