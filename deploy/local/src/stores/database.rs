//! The few statements that are put to Postgres from here.

use std::path::Path;

use anyhow::ensure;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use super::postgres::USER;

/// Asks the server on `port` for its version, and makes sure that it is the one that works in
/// `data`: another may have got the port first.
pub(super) async fn version(port: u16, data: &Path) -> anyhow::Result<String> {
    let mut server = connect(port).await?;
    let place: String = sqlx::query_scalar("SHOW data_directory").fetch_one(&mut server).await?;
    ensure!(Path::new(&place) == data, "port {port} belongs to the Postgres of {place}");
    let version: String = sqlx::query_scalar("SHOW server_version").fetch_one(&mut server).await?;
    server.close().await?;
    Ok(version.split_whitespace().next().unwrap_or_default().to_owned())
}

/// Creates a database unless there is one of that name.
pub(super) async fn create(port: u16, name: &str, template: Option<&str>) -> anyhow::Result<()> {
    for name in [Some(name), template].into_iter().flatten() {
        ensure!(
            !name.is_empty() && name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_')),
            "{name:?} is no database name: use a-z, 0-9 and _"
        );
    }
    let mut server = connect(port).await?;
    let exists: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
            .bind(name)
            .fetch_one(&mut server)
            .await?;
    if !exists {
        let template = template.unwrap_or("template1");
        let statement = format!("CREATE DATABASE \"{name}\" TEMPLATE \"{template}\"");
        sqlx::query(AssertSqlSafe(statement)).execute(&mut server).await?;
    }
    server.close().await?;
    Ok(())
}

async fn connect(port: u16) -> sqlx::Result<PgConnection> {
    PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(port)
        .username(USER)
        .database("postgres")
        .ssl_mode(PgSslMode::Disable)
        .disable_statement_logging()
        .connect()
        .await
}
