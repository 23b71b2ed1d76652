//! What the shop never takes is given up, stands in nobody's way, and can be tried again.

use serde_json::{Value, json};
use tests::client::Answer;
use tests::document::Document;
use tests::sale::{CheckoutNode, single};
use tests::shop::{Attempt, Reply, Shop};
use tests::wait;

const REPLAY: &str = "POST /v1/admin/events/{event}/outbox/replay";

async fn dead(node: &CheckoutNode) -> Value {
    node.ops.get("/v1/admin/events/sale/outbox").await.expect(200).json()
}

async fn until_dead(node: &CheckoutNode, count: u64) -> Value {
    wait::until("messages to be given up", async || {
        let shown = dead(node).await;
        (shown["dead"] == json!(count) && shown["pending"] == 0).then_some(shown)
    })
    .await
}

async fn replay(node: &CheckoutNode, body: &Value) -> Answer {
    let path = "/v1/admin/events/sale/outbox/replay";
    tests::client::send(node.ops.request(reqwest::Method::POST, path).json(body)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_up_stands_in_nobodys_way_and_can_be_replayed() {
    let shop = Shop::that(|attempt| {
        Reply::Status(if attempt.kind() == "reservation.held" { 400 } else { 200 })
    })
    .await;
    let node = single(&shop.flags_and(&["--shop-webhook-attempts", "3"])).await;
    let sector = node.on_sale("sale", 10).await;
    let mut ids = Vec::new();
    for buyer in node.crowd("sale", 3) {
        let id = buyer.hold(&sector).await;
        buyer.cancel(&id).await.expect(200);
        ids.push(id);
    }
    // The later ones go on when the earlier ones are given up.
    shop.until_taken(3).await;
    let shown = until_dead(&node, 3).await;
    for id in &ids {
        let attempts: Vec<i64> = shop
            .attempts()
            .iter()
            .filter(|attempt| attempt.reservation() == *id)
            .map(Attempt::version)
            .collect();
        assert_eq!(attempts, [1, 1, 1, 2]);
    }
    let document = Document::of(&node.ops).await;
    let answer = node.ops.get("/v1/admin/events/sale/outbox").await.expect(200);
    document.describes("GET /v1/admin/events/{event}/outbox", &answer);
    let letter = &shown["dead_letters"][0];
    assert_eq!((&letter["type"], &letter["attempts"]), (&json!("reservation.held"), &json!(3)));
    assert_eq!(letter["last_error"], "status 400");

    shop.from_now_on(|_| Reply::Status(200));
    let one = replay(&node, &json!({"id": letter["id"]})).await.expect(200);
    assert_eq!(one.json(), json!({"replayed": 1}));
    document.describes(REPLAY, &one);
    let taken = shop.until_taken(4).await;
    assert_eq!(json!(taken[3].id()), letter["id"]);
    until_dead(&node, 2).await;
    // It was delivered: there is nothing to replay any more.
    let again = replay(&node, &json!({"id": letter["id"]})).await;
    document.describes(REPLAY, &again);
    again.expect_problem(404, "not_found");

    let path = "/v1/admin/events/sale/outbox/replay";
    assert_eq!(node.ops.post(path).await.expect(200).json(), json!({"replayed": 2}));
    shop.until_taken(6).await;
    until_dead(&node, 0).await;
    for body in [json!({"id": "evt_1"}), json!({"ids": []}), json!([])] {
        replay(&node, &body).await.expect_problem(400, "invalid_request");
    }
    node.ops.post("/v1/admin/events/none/outbox/replay").await.expect_problem(404, "not_found");
    node.ops.get("/v1/admin/events/none/outbox").await.expect_problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_delivered_is_forgotten_after_its_retention_and_a_dead_letter_is_not() {
    let shop = Shop::that(|attempt| {
        Reply::Status(if attempt.kind() == "reservation.held" { 400 } else { 200 })
    })
    .await;
    let node = single(&shop.flags_and(&["--shop-webhook-attempts", "1"])).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.cancel(&id).await.expect(200);
    until_dead(&node, 1).await;
    let event = "sale".parse().expect("an event");
    let mut connection = node.ledger.pool().acquire().await.expect("a connection");
    let purge = checkout::store::outbox::purge;
    assert_eq!(purge(&mut connection, &event, 60, 500).await.expect("a purge"), 0, "too young");
    sqlx::query(
        "UPDATE reservation_events SET delivered_at = now() - interval '2 minutes'
         WHERE delivered_at IS NOT NULL",
    )
    .execute(node.ledger.pool())
    .await
    .expect("it is old");
    assert_eq!(purge(&mut connection, &event, 60, 500).await.expect("a purge"), 1);
    assert_eq!(node.ledger.rows("reservation_events").await, 1);
    assert_eq!(dead(&node).await["dead"], 1);
    // The reservation's last row is gone, and that is no inconsistency.
    node.assert_consistent("sale").await;
}
