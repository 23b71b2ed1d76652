//! Payments and something else at the same moment: two transactions are stopped just before the critical
//! write, and let go together. The controls do the same without the guard, and pay twice.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use sqlx::AssertSqlSafe;
use tests::gate::Gate;
use tests::ledger::{Ledger, Stock};
use tests::sale::{Buyer, CheckoutNode};
use tests::sandbox::{SECRET, Sandbox, now, paying, paying_pair, send_webhook, signature, webhook};
use tests::{stores, wait};
use tokio::sync::{Barrier, Notify};

/// Somebody whose payment is under way: the reservation, and the payment. Nobody but the test says what
/// comes of it.
async fn under_way(ada: &Buyer, sandbox: &Sandbox, sector: &str) -> (String, String) {
    let silent = json!({ "processing": 1, "webhooks": false, "look_up_failures": 1_000_000_000 });
    sandbox.switch(silent).await;
    let id = ada.hold(sector).await;
    let told = ada.pay(&id).await.expect(202).json();
    (id, told["payment"]["id"].as_str().expect("an id").to_owned())
}

async fn succeeded(node: &CheckoutNode, payment: &str, event: &str) {
    let body = webhook(event, payment, payment, "succeeded");
    send_webhook(node, &body, &signature(SECRET, now(), &body)).await.expect(204);
}

async fn count(ledger: &Ledger, what: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {what}")))
        .fetch_one(ledger.pool())
        .await
        .expect("the rows are counted")
}

/// One comes to the lock, then the other; both stand there, and are let go together.
async fn in_turn<A, B>(
    gate: Gate,
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    let turn = Notify::new();
    let go = async {
        gate.until_waiting(1).await;
        turn.notify_one();
        gate.until_waiting(2).await;
        gate.open().await;
    };
    let second = async {
        turn.notified().await;
        second.await
    };
    let (first, second, ()) = tokio::join!(first, second, go);
    (first, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_webhooks_at_two_instances_that_come_to_the_payment_together_pay_once() {
    let (sandbox, one, two) = paying_pair(&[]).await;
    let sector = one.on_sale("sale", 10).await;
    let ada = one.buyer("sale", "ada");
    // In time, and late: then it is the places that must not be taken twice.
    for (n, end) in ["paid", "recovered"].into_iter().enumerate() {
        let (id, payment) = under_way(&ada, &sandbox, &sector).await;
        if end == "recovered" {
            one.ledger.expire_after(&id, Duration::ZERO).await;
            one.ledger.becomes(&id, "expired").await;
        }
        let lock = format!("SELECT FROM payments WHERE payment_id = '{payment}' FOR UPDATE");
        let gate = Gate::at(&one.ledger, &lock).await;
        let webhooks = (format!("evt_{n}_1"), format!("evt_{n}_2"));
        let (first, second) =
            (succeeded(&one, &payment, &webhooks.0), succeeded(&two, &payment, &webhooks.1));
        in_turn(gate, first, second).await;
        assert_eq!(ada.payment(&id).await["state"], end);
        let sold = i32::try_from(n).expect("few") + 1;
        assert_eq!(one.ledger.stock(&sector).await, Stock::of(10, 10 - sold, 0, sold));
    }
    assert_eq!(count(&one.ledger, "payments WHERE kind = 'refund'").await, 0);
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_and_a_cancellation_that_come_to_the_hold_together_end_in_one_of_the_two() {
    let (sandbox, one, two) = paying_pair(&["--decision-wait-ms", "100"]).await;
    let sector = one.on_sale("sale", 20).await;
    let (mut sold, mut let_go) = (0, 0);
    for n in 0..12 {
        let ada = one.buyer("sale", &format!("person-{n}"));
        let (id, payment) = under_way(&ada, &sandbox, &sector).await;
        let lock = format!("SELECT FROM reservations WHERE reservation_id = '{id}' FOR UPDATE");
        let gate = Gate::at(&one.ledger, &lock).await;
        let (event, elsewhere) = (format!("evt_{n}"), ada.at(&two));
        let (paying, cancelling) = (succeeded(&one, &payment, &event), elsewhere.cancel(&id));
        let cancelled = if n % 2 == 0 {
            in_turn(gate, paying, cancelling).await.1
        } else {
            in_turn(gate, cancelling, paying).await.0
        };
        if cancelled.status == 200 {
            let_go += 1;
            assert_eq!(one.ledger.state(&id).await, "cancelled");
            let owed = format!("payments WHERE charge_id = '{payment}' AND kind = 'refund'");
            assert_eq!(count(&one.ledger, &owed).await, 1);
        } else {
            sold += 1;
            cancelled.expect_problem(409, "invalid_transition");
            assert_eq!(ada.payment(&id).await["state"], "paid");
        }
    }
    assert!(sold > 0 && let_go > 0, "{sold} sold, {let_go} let go: one side never won");
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(20, 20 - sold, 0, sold));
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_ends_in_the_transaction_for_which_its_payment_waits_is_not_confirmed() {
    let (sandbox, node) = paying(&["--sweep-interval-ms", "3600000"]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let (id, payment) = under_way(&ada, &sandbox, &sector).await;
    let lock = format!("SELECT FROM reservations WHERE reservation_id = '{id}' FOR UPDATE");
    let gate = Gate::at(&node.ledger, &lock).await;
    let end = async {
        gate.until_waiting(1).await;
        gate.write(&format!(
            "UPDATE reservations SET expires_at = now() WHERE reservation_id = '{id}'"
        ))
        .await;
    };
    tokio::join!(succeeded(&node, &payment, "evt_1"), end);
    assert_eq!(node.ledger.state(&id).await, "expired");
    assert_eq!(ada.payment(&id).await["state"], "recovered");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 0, 1));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_payment_and_a_buyer_who_come_to_the_last_place_together_do_not_both_get_it() {
    let (sandbox, one, two) = paying_pair(&["--decision-wait-ms", "9000"]).await;
    let (mut recovered, mut refunded) = (0, 0);
    for n in 0..8 {
        let event = "sale";
        let sector = if n == 0 {
            one.on_sale(event, 1).await
        } else {
            let sector = tests::sale::new_key();
            let more = json!({ "sectors": [{
                "sector_id": sector, "name": sector, "capacity": 1, "price": 1_000,
            }] });
            one.ops.patch("/v1/admin/events/sale", &more).await.expect(200);
            wait::until("the sector to be known", async || {
                let sectors = two.sectors(event).await;
                sectors.iter().any(|one| one["sector_id"] == *sector).then_some(())
            })
            .await;
            sector
        };
        let (ada, bob) = (one.buyer(event, &format!("a{n}")), two.buyer(event, &format!("b{n}")));
        let (id, payment) = under_way(&ada, &sandbox, &sector).await;
        one.ledger.expire_after(&id, Duration::ZERO).await;
        one.ledger.becomes(&id, "expired").await;
        wait::until("the place to be back in memory", async || {
            let sectors = two.sectors(event).await;
            let found = sectors.iter().find(|one| one["sector_id"] == *sector);
            found.is_some_and(|one| one["available"] == 1).then_some(())
        })
        .await;
        let gate = Gate::shut(&one.ledger, &sector).await;
        let webhook = format!("evt_{n}");
        let (paying, buying) = (succeeded(&one, &payment, &webhook), bob.reserve_one(&sector));
        let bought = if n % 2 == 0 {
            in_turn(gate, paying, buying).await.1
        } else {
            in_turn(gate, buying, paying).await.0
        };
        if bought.status == 201 {
            refunded += 1;
            assert_eq!(ada.payment(&id).await["state"], "refund_pending");
            assert_eq!(one.ledger.stock(&sector).await, Stock::of(1, 0, 1, 0));
        } else {
            recovered += 1;
            bought.expect_problem(409, "sold_out");
            assert_eq!(ada.payment(&id).await["state"], "recovered");
            assert_eq!(one.ledger.stock(&sector).await, Stock::of(1, 0, 0, 1));
        }
    }
    assert!(recovered > 0 && refunded > 0, "{recovered} recovered, {refunded} refunded");
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_is_paid_for_as_it_expires_is_sold_once_and_charged_once() {
    let (sandbox, one, two) = paying_pair(&["--sweep-interval-ms", "10"]).await;
    let sector = one.on_sale("sale", 200).await;
    let (paid, recovered) = (AtomicU32::new(0), AtomicU32::new(0));
    let worker = async |first: u32| {
        for n in (first..80).step_by(4) {
            let node = if n % 4 < 2 { &one } else { &two };
            let ada = node.buyer("sale", &format!("person-{n}"));
            let id = ada.hold(&sector).await;
            // The charge is written while the hold is live; how long it then lasts is a race.
            let pay = ada.pay(&id);
            let end = async {
                wait::until("the charge", async || {
                    let written =
                        format!("payments WHERE reservation_id = '{id}' AND kind = 'charge'");
                    (count(&one.ledger, &written).await == 1).then_some(())
                })
                .await;
                let soon = Duration::from_millis(u64::from(n % 8));
                let sql = format!(
                    "UPDATE reservations SET expires_at = now() + interval '{} seconds'
                     WHERE reservation_id = '{id}' AND state = 'held'",
                    soon.as_secs_f64()
                );
                sqlx::query(AssertSqlSafe(sql)).execute(one.ledger.pool()).await.expect("its end");
            };
            tokio::join!(pay, end);
            let state = wait::until("the payment's end", async || {
                let state = ada.payment(&id).await["state"].as_str().unwrap_or_default().to_owned();
                ["paid", "recovered"].contains(&state.as_str()).then_some(state)
            })
            .await;
            let (counter, stored) =
                if state == "paid" { (&paid, "confirmed") } else { (&recovered, "expired") };
            counter.fetch_add(1, Ordering::Relaxed);
            assert_eq!(one.ledger.state(&id).await, stored);
        }
    };
    sandbox.switch(json!({ "latency_ms": 15 })).await;
    join_all((0..4).map(worker)).await;
    assert_eq!(paid.into_inner() + recovered.into_inner(), 80);
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(200, 120, 0, 80));
    let charges = sandbox.entries().await;
    assert_eq!(charges.len(), 80, "one charge each, and no refund");
    one.assert_consistent("sale").await;
}

/// The control: the same double click on the same table, by looking first and without the unique index.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "nobody drops these futures in their transactions")]
async fn without_the_index_a_double_click_would_be_two_charges() {
    let ledger = Ledger::open(&stores::database_url().await);
    let click = async |looked: &Barrier, n: u32| {
        let mut transaction = ledger.pool().begin().await.expect("a transaction");
        let there: i64 = sqlx::query_scalar("SELECT count(*) FROM payments WHERE kind = 'charge'")
            .fetch_one(&mut *transaction)
            .await
            .expect("the payments are read");
        looked.wait().await;
        if there > 0 {
            return false;
        }
        let written = sqlx::query(AssertSqlSafe(format!(
            "INSERT INTO payments
                (event_id, payment_id, reservation_id, kind, provider, amount, currency)
             VALUES ('sale', '00000000-0000-7000-8000-00000000000{n}',
                '00000000-0000-7000-8000-000000000000', 'charge', 'sandbox', 1000, 'EUR')"
        )))
        .execute(&mut *transaction)
        .await;
        written.is_ok() && transaction.commit().await.is_ok()
    };
    let twice = async || {
        let looked = Barrier::new(2);
        let both = tokio::join!(click(&looked, 1), click(&looked, 2));
        u32::from(both.0) + u32::from(both.1)
    };
    assert_eq!(twice().await, 1, "the index stands behind it");
    for sql in ["TRUNCATE payments", "DROP INDEX payments_one_charge"] {
        sqlx::query(AssertSqlSafe(sql)).execute(ledger.pool()).await.expect("no index any more");
    }
    assert_eq!(twice().await, 2, "the race is there, and the index is what ends it");
}
