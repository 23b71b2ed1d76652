//! What migrations/README.md asks of every table.

use futures::future::join_all;
use secrecy::SecretString;
use sqlx::AssertSqlSafe;
use tests::ledger::Ledger;
use tests::stores;
use uuid::Uuid;

#[tokio::test(flavor = "multi_thread")]
async fn every_unique_constraint_leads_with_the_event_so_that_its_rows_can_live_together() {
    let ledger = Ledger::open(&stores::database_url().await);
    let unique: Vec<(String, String)> = sqlx::query_as(
        "SELECT indexrelid::regclass::text, attname::text
         FROM pg_index
         JOIN pg_class ON pg_class.oid = indrelid AND relnamespace = 'public'::regnamespace
         JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
         WHERE indisunique AND relname <> '_sqlx_migrations'",
    )
    .fetch_all(ledger.pool())
    .await
    .expect("the catalogue is read");
    assert!(unique.len() >= 7, "{unique:?}");
    for (index, first) in unique {
        assert_eq!(first, "event_id", "{index} leads with {first}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_foreign_key_points_to_the_hot_row() {
    let ledger = Ledger::open(&stores::database_url().await);
    let pointing: Vec<String> = sqlx::query_scalar(
        "SELECT conname::text FROM pg_constraint
         WHERE contype = 'f' AND confrelid = 'sector_stock'::regclass",
    )
    .fetch_all(ledger.pool())
    .await
    .expect("the catalogue is read");
    assert!(pointing.is_empty(), "{pointing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_that_start_together_take_turns_at_the_migrations() {
    let template = stores::database_url().await;
    let name = format!("fresh_{}", Uuid::new_v4().simple());
    sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(Ledger::open(&template).pool())
        .await
        .expect("an empty database");
    let (server, _) = template.rsplit_once('/').expect("a URL with a database");
    let url = SecretString::from(format!("{server}/{name}"));
    for migrated in join_all((0..5).map(|_| checkout::migrate(&url))).await {
        migrated.expect("the schema is there");
    }
}
