//! What an operator can see of a sale at `/metrics`.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tests::client::{Client, send};
use tests::gate::Gate;
use tests::ledger::Ledger;
use tests::sale::{CheckoutProcess, new_key};
use tests::sandbox::paying;
use tests::{stores, wait};

/// A sample of each must be there: of the name, with these labels.
const SAMPLES: [&str; 23] = [
    "checkout_batch_orders_count",
    "checkout_queue_delay_duration_seconds_bucket",
    "checkout_queue_delay_seconds{event=\"sale\"}",
    "checkout_stock_lock_duration_seconds_bucket",
    "checkout_commit_duration_seconds_bucket",
    "checkout_transaction_duration_seconds_bucket",
    "checkout_conflicts_total{what=\"stock\"}",
    "checkout_sector_leases_total{outcome=\"acquired\"}",
    "checkout_reservations_total{action=\"reserve\",outcome=\"created\"}",
    "checkout_reservations_total{action=\"reserve\",outcome=\"replayed\"}",
    "checkout_reservations_total{action=\"reserve\",outcome=\"sold_out\"}",
    "checkout_reservations_total{action=\"reserve\",outcome=\"purchase_limit\"}",
    "checkout_reservations_total{action=\"confirm\",outcome=\"done\"}",
    "checkout_reservations_total{action=\"confirm\",outcome=\"hold_expired\"}",
    "checkout_reservations_total{action=\"cancel\",outcome=\"done\"}",
    "checkout_reservations_total{action=\"extend\",outcome=\"done\"}",
    "checkout_holds_overdue 0",
    "checkout_holds_expired_total 1",
    "checkout_places_left{event=\"sale\"}",
    "checkout_database_connections{pool=\"requests\"}",
    "checkout_database_connections{pool=\"writers\"}",
    "checkout_database_connections_idle{pool=\"requests\"}",
    "checkout_database_connections_idle{pool=\"writers\"}",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_sales_figures_are_there_to_be_read() {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let ledger = Ledger::open(&database);
    // A process of its own: metrics are a process's, and other tests' must not be taken for these.
    let checkout = CheckoutProcess::start(&database, &redis, &[]).await;
    let sector = new_key();
    let sale = json!({
        "max_per_user": 3, "sectors": [{"sector_id": sector, "name": "Stalls", "capacity": 4}],
    });
    checkout.ops.put("/v1/admin/events/sale", &sale).await.expect(201);
    let (ada, bob) = (checkout.buyer_at("sale", "ada", 0), checkout.buyer_at("sale", "bob", 0));
    let (kept, lost) = (ada.hold(&sector).await, ada.hold(&sector).await);
    let extend = ada.client.request(Method::POST, &format!("/v1/reservations/{kept}/extend"));
    send(extend.header("idempotency-key", "extend")).await.expect(200);
    ada.confirm(&kept).await.expect(200);
    ledger.expire_after(&lost, Duration::ZERO).await;
    ada.confirm(&lost).await.expect(410);
    ledger.becomes(&lost, "expired").await;
    let again = ada.reserve(&sector, 2, "key").await.expect(201).str("id");
    ada.reserve(&sector, 2, "key").await.expect(200);
    ada.reserve_one(&sector).await.expect(409);
    ada.cancel(&again).await.expect(200);
    bob.reserve(&sector, 4, "all").await.expect(409);
    // A batch whose stock somebody else takes meanwhile.
    let gate = Gate::shut(&ledger, &sector).await;
    let overtake = async {
        gate.until_waiting(1).await;
        gate.write("UPDATE sector_stock SET capacity = 1, available = 0").await;
    };
    tokio::join!(bob.reserve(&sector, 3, "three"), overtake).0.expect(409);

    until_there(&checkout.ops, &SAMPLES).await;
}

async fn until_there(ops: &Client, samples: &[&str]) {
    wait::until("all figures", async || {
        let text = ops.get("/metrics").await.expect(200).text;
        let there = |sample: &&str| text.lines().any(|line| line.starts_with(sample));
        samples.iter().all(there).then_some(())
    })
    .await;
}

/// Payments' states, among those of whatever other test pays in this process.
#[tokio::test(flavor = "multi_thread")]
async fn payments_that_are_made_and_those_that_are_not_done_are_there_to_be_read() {
    let (_sandbox, node) = paying(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.pay(&id).await;
    ada.payment_becomes(&id, "paid").await;
    let samples = [
        "checkout_payments_total{provider=\"sandbox\",outcome=\"paid\"}",
        "checkout_payment_call_duration_seconds_bucket{provider=\"sandbox\"",
        "checkout_payments_unsettled{kind=\"charge\",state=\"created\"}",
        "checkout_payments_unsettled{kind=\"charge\",state=\"submitted\"}",
        "checkout_payments_unsettled{kind=\"charge\",state=\"unknown\"}",
        "checkout_payments_unsettled{kind=\"refund\",state=\"unknown\"}",
        "checkout_payments_unsettled{kind=\"refund\",state=\"failed\"}",
        "checkout_payments_unsettled_age_seconds{kind=\"charge\",state=\"unknown\"}",
    ];
    until_there(&node.ops, &samples).await;
}
