//! The control of the tests against overselling: the same race on the same tables, with the guards
//! taken out, does sell places twice. So what the other tests do not find is not there.

use futures::future::join_all;
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, Error, PgPool};
use tests::ledger::Ledger;
use tests::{stores, wait};
use tokio::sync::Barrier;
use uuid::Uuid;

const PLACES: i32 = 100;
/// Buyers who have all read the stock before one of them writes.
const AT_ONCE: usize = 60;
const WAVES: usize = 3;

const UNGUARDED: &str = "UPDATE sector_stock SET available = available - 1, held = held + 1
    WHERE event_id = 'sale' AND sector_id = $1";
const GUARDED: &str = "UPDATE sector_stock SET available = available - 1, held = held + 1
    WHERE event_id = 'sale' AND sector_id = $1 AND available >= 1";

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Sold,
    SoldOut,
    RefusedByCheck,
}

/// What came of the race.
struct Figures {
    sold: usize,
    refused_by_check: usize,
    available: i32,
}

/// One buyer, in the way of the field reports: look, and if there is something left, take it.
#[expect(clippy::disallowed_methods, reason = "nobody drops this future in its transaction")]
async fn buy(pool: &PgPool, sector: Uuid, write: &'static str, looked: &Barrier) -> Outcome {
    let mut transaction = pool.begin().await.expect("a transaction");
    let available: i32 = sqlx::query_scalar(
        "SELECT available FROM sector_stock WHERE event_id = 'sale' AND sector_id = $1",
    )
    .bind(sector)
    .fetch_one(&mut *transaction)
    .await
    .expect("the stock");
    looked.wait().await;
    if available < 1 {
        return Outcome::SoldOut;
    }
    match sqlx::query(write).bind(sector).execute(&mut *transaction).await {
        Ok(written) if written.rows_affected() == 0 => return Outcome::SoldOut,
        Ok(_) => {}
        Err(Error::Database(error)) if error.is_check_violation() => {
            return Outcome::RefusedByCheck;
        }
        Err(error) => panic!("{error}"),
    }
    sqlx::query(
        "WITH hold AS (
            INSERT INTO reservations (event_id, reservation_id, sub, state, quantity, total,
                currency, created_at, expires_at, changed_at)
            VALUES ('sale', $1, $1::text, 'held', 1, 0, 'EUR', now(), now() + '5 minutes', now())
         )
         INSERT INTO reservation_items (event_id, reservation_id, sector_id, quantity, price)
         VALUES ('sale', $1, $2, 1, 0)",
    )
    .bind(Uuid::now_v7())
    .bind(sector)
    .execute(&mut *transaction)
    .await
    .expect("the reservation is written");
    transaction.commit().await.expect("a commit");
    Outcome::Sold
}

/// The race on a fresh database, without the CHECKs on the stock if so told.
async fn race(write: &'static str, with_checks: bool) -> Figures {
    let ledger = Ledger::open(&stores::database_url().await);
    let options = (*ledger.pool().connect_options()).clone();
    let connections = AT_ONCE.try_into().expect("a small number");
    let pool = PgPoolOptions::new().max_connections(connections).acquire_timeout(wait::DEADLINE);
    let pool = pool.connect_lazy_with(options);
    let sector = Uuid::now_v7();
    prepare(ledger.pool(), sector, with_checks).await;

    let mut outcomes = Vec::new();
    for _ in 0..WAVES {
        let looked = Barrier::new(AT_ONCE);
        outcomes.extend(join_all((0..AT_ONCE).map(|_| buy(&pool, sector, write, &looked))).await);
    }
    pool.close().await;
    let count = |wanted| outcomes.iter().filter(|&outcome| *outcome == wanted).count();
    let sold = count(Outcome::Sold);
    assert_eq!(ledger.rows("reservations").await, i64::try_from(sold).expect("few"));
    let available = ledger.stock(&sector.to_string()).await.available;
    Figures { sold, refused_by_check: count(Outcome::RefusedByCheck), available }
}

async fn prepare(pool: &PgPool, sector: Uuid, with_checks: bool) {
    sqlx::raw_sql(AssertSqlSafe(format!(
        "INSERT INTO events (event_id, name, max_per_user, max_quantity_per_request,
            hold_ttl_seconds, currency)
         VALUES ('sale', 'A concert', 4, 4, 300, 'EUR');
         INSERT INTO sectors (event_id, sector_id, name, price)
         VALUES ('sale', '{sector}', 'Stalls', 0);
         INSERT INTO sector_stock (event_id, sector_id, capacity, available)
         VALUES ('sale', '{sector}', {PLACES}, {PLACES});",
    )))
    .execute(pool)
    .await
    .expect("the event is made");
    if !with_checks {
        sqlx::raw_sql(
            "ALTER TABLE sector_stock
             DROP CONSTRAINT sector_stock_available_check, DROP CONSTRAINT stock_is_conserved",
        )
        .execute(pool)
        .await
        .expect("the CHECKs are dropped");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stderr, reason = "the figures are for people to read")]
async fn without_the_guard_the_same_race_oversells_and_with_it_it_does_not() {
    let without = race(UNGUARDED, false).await;
    let with = race(GUARDED, false).await;
    eprintln!(
        "without the guard: {} sold of {PLACES}; with it: {} of {PLACES}",
        without.sold, with.sold
    );
    assert!(without.sold > 100, "the control sold no place twice: the race is none");
    assert!(without.available < 0);
    assert_eq!((with.sold, with.available), (100, 0));
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stderr, reason = "the figures are for people to read")]
async fn without_the_guard_the_check_still_refuses_to_oversell() {
    let figures = race(UNGUARDED, true).await;
    eprintln!(
        "without the guard, with the CHECK: {} sold of {PLACES}, {} refused by Postgres",
        figures.sold, figures.refused_by_check
    );
    assert_eq!((figures.sold, figures.available), (100, 0));
    assert!(figures.refused_by_check > 0, "nobody tried: the race is none");
}
