//! Orders that are not decided in time: 202, and where to look.

use serde_json::json;
use tests::client::Answer;
use tests::gate::Gate;
use tests::sale::{Buyer, CheckoutNode, CheckoutProcess, new_key, pair};
use tests::{ledger::Ledger, stores, wait};

/// Nobody waits for long.
const HASTY: [&str; 2] = ["--decision-wait-ms", "50"];

/// Sends the key again until it is decided: nobody waits for long here.
async fn decided(buyer: &Buyer, sector: &str) -> Answer {
    wait::until("the decision", async || {
        let answer = buyer.reserve(sector, 1, "key").await;
        matches!(answer.status, 200 | 201 | 409).then_some(answer)
    })
    .await
}

fn assert_pending(answer: &Answer, id: &str) {
    assert_eq!((answer.str("id").as_str(), answer.str("state").as_str()), (id, "pending"));
    assert_eq!(answer.header("cache-control"), "no-store");
}

/// An order that waits at the stock of the last place, and what its buyer was told.
async fn undecided(node: &CheckoutNode, sector: &str) -> (Gate, Answer) {
    let gate = Gate::shut(&node.ledger, sector).await;
    let answer = node.buyer("sale", "ada").reserve(sector, 1, "key").await.expect(202);
    let id = answer.str("id");
    assert_pending(&answer, &id);
    assert_eq!(answer.header("location"), format!("/v1/reservations/{id}"));
    assert_eq!(answer.header("retry-after"), "1");
    (gate, answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undecided_order_is_pending_at_every_instance_until_it_is_decided() {
    let (one, two) = pair(&HASTY).await;
    let sector = one.on_sale("sale", 1).await;
    let (gate, told) = undecided(&one, &sector).await;
    let id = told.str("id");
    for node in [&one, &two] {
        assert_pending(&node.buyer("sale", "ada").get(&id).await.expect(200), &id);
        // Without an admission, by the token that came with the 202.
        let holder = node.with_token(told.str("reservation_token"));
        assert_pending(&holder.get(&id).await.expect(200), &id);
        node.buyer("sale", "bob").get(&id).await.expect_problem(404, "not_found");
    }
    let again = one.buyer("sale", "ada").reserve(&sector, 1, "key").await.expect(202);
    assert_eq!(again.str("id"), id, "the same order is waited for");

    gate.open().await;
    for node in [&one, &two] {
        let ada = node.buyer("sale", "ada");
        let held = wait::until("the decision", async || {
            let answer = ada.get(&id).await.expect(200);
            (answer.str("state") == "held").then_some(answer)
        })
        .await;
        assert_eq!(decided(&ada, &sector).await.expect(200).text, held.text);
    }
    assert_eq!(one.ledger.rows("reservations").await, 1);
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_refused_after_all_says_so_where_its_buyer_looks() {
    let (one, two) = pair(&HASTY).await;
    let sector = one.on_sale("sale", 1).await;
    let (gate, told) = undecided(&one, &sector).await;
    let sold = "UPDATE sector_stock SET capacity = 0, available = 0";
    gate.write(sold).await;
    for node in [&one, &two] {
        let ada = node.buyer("sale", "ada");
        let refused = wait::until("the decision", async || {
            let answer = ada.get(&told.str("id")).await;
            (answer.status != 200).then_some(answer)
        })
        .await;
        refused.expect_problem(409, "sold_out");
        let replay = decided(&ada, &sector).await;
        assert_eq!(replay.text, refused.text);
        assert_eq!(replay.header("idempotent-replayed"), "true");
        node.buyer("sale", "bob").get(&told.str("id")).await.expect_problem(404, "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash_before_the_decision_the_key_is_simply_sent_again() {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let ledger = Ledger::open(&database);
    let hasty = [("STANCHION_DECISION_WAIT_MS", "50")];
    let mut checkout = CheckoutProcess::start(&database, &redis, &hasty).await;
    let sector = new_key();
    let sale = json!({"sectors": [{"sector_id": sector, "name": "Stalls", "capacity": 10}]});
    checkout.ops.put("/v1/admin/events/sale", &sale).await.expect(201);
    let ada = checkout.buyer_at("sale", "ada", 0);
    let gate = Gate::shut(&ledger, &sector).await;
    let told = ada.reserve(&sector, 1, "key").await.expect(202);
    gate.until_waiting(1).await;
    checkout.service.kill().await.expect("the checkout is killed");
    gate.open().await;
    checkout.service.restart().await.expect("the checkout starts again");

    ada.get(&told.str("id")).await.expect(200);
    let reserved = decided(&ada, &sector).await;
    ada.get(&reserved.str("id")).await.expect(200);
    assert_eq!(ledger.rows("reservations").await, 1);
    ledger.assert_balanced("sale").await;
}
