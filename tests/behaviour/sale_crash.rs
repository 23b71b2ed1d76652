//! The checkout's own process is killed or deceived about the time.

use std::time::Duration;

use serde_json::json;
use tests::ledger::{Ledger, Stock};
use tests::proxy::Proxy;
use tests::sale::{CheckoutProcess, new_key};
use tests::{programs, stores, wait};

async fn on_sale(checkout: &CheckoutProcess) -> String {
    let sector = new_key();
    let sale = json!({
        "hold_ttl_seconds": 300,
        "sectors": [{"sector_id": sector, "name": "Stalls", "capacity": 10}],
    });
    checkout.ops.put("/v1/admin/events/sale", &sale).await.expect(201);
    sector
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_after_the_commit_and_before_the_answer_loses_nothing() {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let ledger = Ledger::open(&database);
    let proxy = Proxy::to(&database).await;
    let checkout = CheckoutProcess::start(&proxy.url(&database), &redis, &[]).await;
    let sector = on_sale(&checkout).await;
    let ada = checkout.buyer_at("sale", "ada", 0);
    // What Postgres says to a commit does not arrive any more.
    proxy.keep_answers_to_commits();
    let body = json!({"sector_id": sector, "quantity": 2});
    let request = tokio::spawn(ada.reserve_request(&body, "key").send());
    wait::until("the commit", async || (ledger.rows("reservations").await == 1).then_some(()))
        .await;
    assert!(!request.is_finished(), "it was answered before it was killed");
    checkout.service.kill().await.expect("the checkout is killed");
    assert!(request.await.expect("no panic").is_err(), "nobody heard an answer");

    let checkout = CheckoutProcess::start(&database, &redis, &[]).await;
    let ada = checkout.buyer_at("sale", "ada", 0);
    let again = ada.reserve(&sector, 2, "key").await.expect(200);
    assert_eq!(again.header("idempotent-replayed"), "true");
    ada.confirm(&again.str("id")).await.expect(200);
    assert_eq!(ledger.rows("reservations").await, 1);
    assert_eq!(ledger.stock(&sector).await, Stock::of(10, 8, 0, 2));
    ledger.assert_balanced("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clocks_an_hour_apart_neither_lengthen_nor_shorten_a_hold() {
    let library = programs::faketime();
    for ahead_seconds in [3_600, -3_600] {
        let (database, redis) = (stores::database_url().await, stores::redis_url().await);
        let ledger = Ledger::open(&database);
        let shift = format!("{ahead_seconds:+}s");
        let env = [("LD_PRELOAD", library.as_str()), ("FAKETIME", &shift)];
        let wrong = CheckoutProcess::start(&database, &redis, &env).await;
        let right = CheckoutProcess::start(&database, &redis, &[]).await;
        let sector = on_sale(&wrong).await;
        // His clock decides about tokens, and about nothing else.
        wrong.buyer_at("sale", "ada", 0).reserve_one(&sector).await.expect(401);
        let ada = wrong.buyer_at("sale", "ada", ahead_seconds);
        let (kept, lost) = (ada.hold(&sector).await, ada.hold(&sector).await);
        let seconds: Vec<f64> = sqlx::query_scalar(
            "SELECT extract(epoch FROM expires_at - now())::float8 FROM reservations",
        )
        .fetch_all(ledger.pool())
        .await
        .expect("the holds");
        assert!(seconds.iter().all(|left| (200.0..=300.0).contains(left)), "{seconds:?}");

        // Long enough for both sweepers to have looked more than once.
        ledger.expire_after(&lost, Duration::ZERO).await;
        ledger.becomes(&lost, "expired").await;
        for _ in 0..2 {
            let again = ada.hold(&sector).await;
            ledger.expire_after(&again, Duration::ZERO).await;
            ledger.becomes(&again, "expired").await;
        }
        assert_eq!(ledger.state(&kept).await, "held");
        ada.confirm(&lost).await.expect_problem(410, "hold_expired");
        let elsewhere = right.buyer_at("sale", "ada", 0);
        elsewhere.confirm(&kept).await.expect(200);
        ledger.assert_balanced("sale").await;
    }
}
