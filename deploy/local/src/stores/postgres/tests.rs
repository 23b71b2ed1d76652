//! Data survives a stop and a crash.

use sqlx::{Connection, PgConnection};

use super::*;
use crate::scratch::Scratch;

async fn count(postgres: &Postgres) -> i64 {
    let mut connection = PgConnection::connect(&postgres.url()).await.unwrap();
    sqlx::query_scalar("SELECT count(*) FROM kept").fetch_one(&mut connection).await.unwrap()
}

async fn write(postgres: &Postgres) {
    let mut connection = PgConnection::connect(&postgres.url()).await.unwrap();
    for statement in ["CREATE TABLE IF NOT EXISTS kept (n int)", "INSERT INTO kept VALUES (1)"] {
        sqlx::query(statement).execute(&mut connection).await.unwrap();
    }
}

#[tokio::test]
async fn what_was_committed_is_there_after_a_stop_and_after_a_crash() {
    let scratch = Scratch::new();
    let home = scratch.path().join("postgres");
    let mut postgres = Postgres::start(&home, PostgresOptions::default()).await.unwrap();
    let port = postgres.port();
    write(&postgres).await;

    postgres.stop().await.unwrap();
    assert!(PgConnection::connect(&postgres.url()).await.is_err());
    postgres.restart().await.unwrap();
    assert_eq!((postgres.port(), count(&postgres).await), (port, 1));

    write(&postgres).await;
    let _idle_backend = PgConnection::connect(&postgres.url()).await.unwrap();
    postgres.kill().await.unwrap();
    assert!(PgConnection::connect(&postgres.url()).await.is_err());
    postgres.restart().await.unwrap();
    assert_eq!((postgres.port(), count(&postgres).await), (port, 2));

    // Dropped and started anew while the old one may still be stopping.
    drop(postgres);
    let postgres = Postgres::start(&home, PostgresOptions::default()).await.unwrap();
    assert_eq!(count(&postgres).await, 2);
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_database_is_made_from_a_template() {
    let scratch = Scratch::new();
    let postgres = Postgres::start(&scratch.path().join("postgres"), PostgresOptions::default())
        .await
        .unwrap();
    write(&postgres).await;
    postgres.create_database("copy_1", Some("stanchion")).await.unwrap();
    postgres.create_database("copy_1", Some("stanchion")).await.unwrap();
    let mut copy = PgConnection::connect(&postgres.url_for("copy_1")).await.unwrap();
    let kept: i64 =
        sqlx::query_scalar("SELECT count(*) FROM kept").fetch_one(&mut copy).await.unwrap();
    assert_eq!(kept, 1);
    assert!(postgres.create_database("a\"b", None).await.is_err());
    postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_wrong_setting_is_told_with_the_log() {
    let scratch = Scratch::new();
    let settings = vec![("no_such_setting".to_owned(), "1".to_owned())];
    let options = PostgresOptions { settings, ..PostgresOptions::default() };
    let error = Postgres::start(&scratch.path().join("postgres"), options).await.unwrap_err();
    assert!(format!("{error:#}").contains("no_such_setting"), "{error:#}");
}
