//! Money that goes back goes back once.

use serde_json::json;
use tests::sale::{Buyer, CheckoutNode};
use tests::sandbox::{SECRET, Sandbox, now, paying, send_webhook, signature};
use tests::wait;

const QUICK: [&str; 4] = ["--payment-timeout-ms", "300", "--decision-wait-ms", "100"];

/// Somebody who has paid for what they had cancelled: it goes back.
async fn owed(node: &CheckoutNode, sandbox: &Sandbox, ada: &Buyer) -> String {
    let sector = node.on_sale("sale", 10).await;
    let id = ada.hold(&sector).await;
    sandbox
        .switch(json!({ "processing": 1, "webhooks": false, "look_up_failures": 1_000_000 }))
        .await;
    let told = ada.pay(&id).await.expect(202).json();
    ada.cancel(&id).await.expect(200);
    let key = told["payment"]["id"].as_str().expect("an id");
    let path = format!("/v1/operations/{key}/complete");
    let request = sandbox.client.request(reqwest::Method::POST, &path);
    tests::client::send(request.json(&json!({ "state": "succeeded" }))).await.expect(200);
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_is_refused_is_tried_again_and_never_made_twice() {
    let (sandbox, node) = paying(&QUICK).await;
    let ada = node.buyer("sale", "ada");
    let id = owed(&node, &sandbox, &ada).await;
    sandbox.switch(json!({ "refund_failures": 3, "look_up_failures": 0 })).await;
    ada.payment_becomes(&id, "refunded").await;
    assert_eq!(sandbox.done("refund", "declined").await.len(), 3);
    let refunds = sandbox.done("refund", "succeeded").await;
    assert_eq!((refunds.len(), refunds[0].amount), (1, 1_000));
    assert_eq!(node.ledger.rows("payments").await, 2, "one operation, however often it is tried");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_whose_answer_is_lost_is_found_and_not_made_again() {
    let (sandbox, node) = paying(&QUICK).await;
    let ada = node.buyer("sale", "ada");
    let id = owed(&node, &sandbox, &ada).await;
    let lost = json!({ "timeout_after_success": 1, "look_up_failures": 3, "broken_answers": 1 });
    sandbox.switch(lost).await;
    ada.payment_becomes(&id, "refunded").await;
    let refunds = sandbox.done("refund", "succeeded").await;
    assert_eq!((refunds.len(), refunds[0].orders), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_never_arrived_is_sent_again_under_its_key() {
    let (sandbox, node) = paying(&QUICK).await;
    let ada = node.buyer("sale", "ada");
    let id = owed(&node, &sandbox, &ada).await;
    sandbox.switch(json!({ "unavailable": 4, "look_up_failures": 0 })).await;
    ada.payment_becomes(&id, "refunded").await;
    assert_eq!(sandbox.done("refund", "succeeded").await.len(), 1);
    assert_eq!(sandbox.entries().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refund_that_is_said_to_be_undone_is_asked_about_first() {
    let (sandbox, node) = paying(&QUICK).await;
    let ada = node.buyer("sale", "ada");
    let id = owed(&node, &sandbox, &ada).await;
    sandbox.switch(json!({ "look_up_failures": 0 })).await;
    ada.payment_becomes(&id, "refunded").await;
    let refund = sandbox.done("refund", "succeeded").await.remove(0).key;
    let body = tests::sandbox::webhook("evt_undone", &refund, &refund, "declined");
    send_webhook(&node, &body, &signature(SECRET, now(), &body)).await.expect(204);
    // The provider's own record says otherwise: it stays refunded, and nothing is sent again.
    wait::until("the provider to be asked", async || {
        let asked: bool = sqlx::query_scalar(
            "SELECT state = 'succeeded' AND next_check_at IS NULL AND attempts >= 2
             FROM payments WHERE kind = 'refund'",
        )
        .fetch_one(node.ledger.pool())
        .await
        .expect("the refund");
        asked.then_some(())
    })
    .await;
    ada.payment_becomes(&id, "refunded").await;
    assert_eq!(sandbox.done("refund", "succeeded").await.len(), 1);
}
