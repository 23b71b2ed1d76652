//! The control of the tests of holds, keys and limits: the same races on the same tables, with the guards
//! taken out, do go wrong. So what the other tests do not find is not there. (Of the stock: `sale_control`.)

use sqlx::{AssertSqlSafe, PgPool};
use tests::ledger::Ledger;
use tests::stores;
use tokio::sync::Barrier;

/// A sale with ten places, three of them held by ada, one hold a place.
const SALE: &str = "
    INSERT INTO events (event_id, name, max_per_user, max_quantity_per_request, hold_ttl_seconds, currency)
    VALUES ('sale', 'A concert', 4, 4, 300, 'EUR');
    INSERT INTO sectors (event_id, sector_id, name, price)
    VALUES ('sale', '0190a6a0-0000-7000-8000-000000000001', 'Stalls', 0);
    INSERT INTO sector_stock (event_id, sector_id, capacity, available, held)
    VALUES ('sale', '0190a6a0-0000-7000-8000-000000000001', 10, 7, 3);
    INSERT INTO user_totals (event_id, sub, held) VALUES ('sale', 'ada', 3);
    INSERT INTO reservations (event_id, reservation_id, sub, state, quantity, total, currency,
        created_at, expires_at, changed_at)
    SELECT 'sale', ('0190a6a0-0000-7000-8000-00000000010' || n)::uuid, 'ada', 'held', 1, 0, 'EUR',
        now(), now() + interval '5 minutes', now()
    FROM generate_series(1, 3) AS n;
    INSERT INTO reservation_items (event_id, reservation_id, sector_id, quantity, price)
    SELECT 'sale', reservation_id, '0190a6a0-0000-7000-8000-000000000001', 1, 0 FROM reservations;";

/// What one of two does: looks, waits until the other one has looked too, and if it may, writes first
/// the guarded thing and then what follows from it.
#[derive(Clone, Copy)]
struct Side {
    look: &'static str,
    write: &'static str,
    follow: &'static str,
}

const HELD: &str = "SELECT state = 'held' FROM reservations
    WHERE reservation_id = '0190a6a0-0000-7000-8000-000000000101'";

/// A hold leaves `held`: for this state, under this condition.
fn leaving(state: &str, guard: &str, follow: &'static str) -> Side {
    let write = format!(
        "UPDATE reservations SET state = '{state}'
         WHERE reservation_id = '0190a6a0-0000-7000-8000-000000000101' {guard}"
    );
    Side { look: HELD, write: write.leak(), follow }
}

#[expect(clippy::disallowed_methods, reason = "nobody drops this future in its transaction")]
async fn side(pool: &PgPool, side: Side, looked: &Barrier) -> bool {
    let mut transaction = pool.begin().await.expect("a transaction");
    let may: bool =
        sqlx::query_scalar(side.look).fetch_one(&mut *transaction).await.expect("it is looked at");
    looked.wait().await;
    assert!(may, "the first look allows it to both");
    let written = sqlx::query(AssertSqlSafe(side.write.to_owned()))
        .execute(&mut *transaction)
        .await
        .expect("it is written");
    if written.rows_affected() == 0 {
        return false;
    }
    sqlx::query(AssertSqlSafe(side.follow.to_owned()))
        .execute(&mut *transaction)
        .await
        .expect("what follows is written");
    transaction.commit().await.expect("a commit");
    true
}

/// Both sides at once, on a fresh database. How many of them had their way.
async fn race(one: Side, two: Side) -> (usize, Ledger) {
    let ledger = Ledger::open(&stores::database_url().await);
    sqlx::raw_sql(SALE).execute(ledger.pool()).await.expect("the sale is made");
    let looked = Barrier::new(2);
    let (one, two) =
        tokio::join!(side(ledger.pool(), one, &looked), side(ledger.pool(), two, &looked));
    (usize::from(one) + usize::from(two), ledger)
}

/// Whether counters and rows agree.
async fn balanced(ledger: &Ledger) -> bool {
    let balanced: (bool,) = sqlx::query_as(
        "SELECT (SELECT held FROM sector_stock)
            = (SELECT count(*) FROM reservations WHERE state = 'held')
            AND (SELECT confirmed FROM sector_stock)
            = (SELECT count(*) FROM reservations WHERE state = 'confirmed')",
    )
    .fetch_one(ledger.pool())
    .await
    .expect("the counters are read");
    balanced.0
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_guard_a_hold_leaves_held_twice_and_with_it_once() {
    const SOLD: &str = "UPDATE sector_stock SET held = held - 1, confirmed = confirmed + 1";
    const BACK: &str = "UPDATE sector_stock SET held = held - 1, available = available + 1";
    for other in ["cancelled", "expired"] {
        for (guard, leaves) in [("", 2), ("AND state = 'held'", 1)] {
            let sides = (leaving("confirmed", guard, SOLD), leaving(other, guard, BACK));
            let (left, ledger) = race(sides.0, sides.1).await;
            assert_eq!(left, leaves, "confirmed × {other} {guard}");
            assert_eq!(balanced(&ledger).await, leaves == 1, "confirmed × {other} {guard}");
        }
    }
    for (guard, leaves) in [("", 2), ("AND state = 'held'", 1)] {
        let sweep = leaving("expired", guard, BACK);
        let (left, ledger) = race(sweep, sweep).await;
        assert_eq!(left, leaves, "two sweepers {guard}");
        assert_eq!(balanced(&ledger).await, leaves == 1, "two sweepers {guard}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_guard_a_person_passes_the_limit_and_with_it_not() {
    for (write, orders, total) in [
        ("UPDATE user_totals SET held = held + 1 WHERE sub = 'ada'", 2, 5),
        ("UPDATE user_totals SET held = held + 1 WHERE sub = 'ada' AND held + 1 <= 4", 1, 4),
    ] {
        let look = "SELECT held + 1 <= 4 FROM user_totals WHERE sub = 'ada'";
        let order = Side { look, write, follow: "SELECT" };
        let (had, ledger) = race(order, order).await;
        let held: i32 = sqlx::query_scalar("SELECT held FROM user_totals")
            .fetch_one(ledger.pool())
            .await
            .expect("the total is read");
        assert_eq!((had, held), (orders, total), "{write}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_guard_a_key_has_two_outcomes_and_with_it_one() {
    const RECORD: &str =
        "INSERT INTO idempotency_keys (event_id, sub, key, fingerprint, status, body)
        VALUES ('sale', 'ada', 'key', sha256(''), 201, pg_backend_pid()::text)
        ON CONFLICT (event_id, sub, key) DO ";
    // Whoever does not look at what has become of his record goes on as if it were the only one.
    for (conflict, outcomes) in [("UPDATE SET body = excluded.body", 2), ("NOTHING", 1)] {
        let look = "SELECT NOT EXISTS (SELECT FROM idempotency_keys)";
        let write: &str = format!("{RECORD}{conflict}").leak();
        let follow = "UPDATE sector_stock SET held = held + 1, available = available - 1";
        let order = Side { look, write, follow };
        let (had, ledger) = race(order, order).await;
        let held: i32 = sqlx::query_scalar("SELECT held FROM sector_stock")
            .fetch_one(ledger.pool())
            .await
            .expect("the stock is read");
        assert_eq!((had, held), (outcomes, if outcomes == 2 { 5 } else { 4 }), "{conflict}");
    }
}
