//! The answers of payments, held against `/openapi.json`; and what the shop is told of them.

use std::time::Duration;

use serde_json::json;
use tests::client::send;
use tests::document::Document;
use tests::sale::new_key;
use tests::sandbox::{SECRET, now, paying, send_webhook, signature, webhook};

const PAY: &str = "POST /v1/reservations/{id}/payment";
const READ: &str = "GET /v1/reservations/{id}";
const WEBHOOK: &str = "POST /v1/webhooks/payments/{provider}";

#[tokio::test(flavor = "multi_thread")]
async fn the_answers_of_a_payment_are_as_described() {
    let (sandbox, node) = paying(&["--decision-wait-ms", "100"]).await;
    let document = Document::of(&node.public).await;
    let sector = node.on_sale("sale", 10).await;
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    let id = ada.hold(&sector).await;
    document.describes(PAY, &ada.pay_with(&id, "pm_declined", "one").await.expect(200));
    document.describes(READ, &ada.get(&id).await.expect(200));
    sandbox.switch(json!({ "processing": 1 })).await;
    document.describes(PAY, &ada.pay_with(&id, "pm_good", "two").await.expect(202));
    document.describes(PAY, &ada.pay_with(&id, "pm_other", "three").await.expect(409));
    document.describes(PAY, &ada.pay_with(&id, "pm_other", "two").await.expect(422));
    document.describes(PAY, &bob.pay(&id).await.expect(404));
    document.describes(PAY, &ada.pay_with(&id, "", "four").await.expect(400));
    let nobody = send(node.with_token("x").pay_request(&id, "sandbox", "pm", "five")).await;
    document.describes(PAY, &nobody.expect(401));
    node.ledger.expire_after(&id, Duration::ZERO).await;
    node.ledger.becomes(&id, "expired").await;
    document.describes(READ, &ada.get(&id).await.expect(200));
    let payment = ada.payment(&id).await["id"].as_str().expect("an id").to_owned();
    let body = webhook("evt_1", &payment, &payment, "succeeded");
    let signed = signature(SECRET, now(), &body);
    document.describes(WEBHOOK, &send_webhook(&node, &body, &signed).await.expect(204));
    document.describes(WEBHOOK, &send_webhook(&node, &body, "").await.expect(400));
    let unknown = node.public.post("/v1/webhooks/payments/other").await.expect(404);
    document.describes(WEBHOOK, &unknown);
    let late = ada.get(&id).await.expect(200);
    assert_eq!(late.json()["payment"]["state"], "recovered");
    document.describes(READ, &late);
    let gone = bob.hold(&sector).await;
    bob.cancel(&gone).await.expect(200);
    document.describes(PAY, &bob.pay(&gone).await.expect(410));
}

/// Each change of a reservation is in the outbox, by the order in which it happened.
#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_confirms_or_recovers_is_told_to_the_shop_like_any_other_change() {
    let slow = ["--sweep-interval-ms", "3600000", "--decision-wait-ms", "100"];
    let (sandbox, node) = paying(&slow).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.pay_with(&id, "pm_good", &new_key()).await.expect(200);
    assert_eq!(told(&node, &id).await, ["held", "confirmed"]);
    sandbox.switch(json!({ "timeout_after_success": 1, "webhook_delay_ms": 500 })).await;
    let late = ada.hold(&sector).await;
    ada.pay(&late).await.expect(202);
    node.ledger.expire_after(&late, Duration::ZERO).await;
    let payment = ada.payment_becomes(&late, "recovered").await;
    assert_eq!(told(&node, &late).await, ["held", "expired"]);
    let another = payment["reservation_id"].as_str().expect("another reservation");
    assert_eq!(told(&node, another).await, ["confirmed"]);
    node.assert_consistent("sale").await;
}

async fn told(node: &tests::sale::CheckoutNode, id: &str) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT kind FROM reservation_events WHERE reservation_id = $1::uuid ORDER BY version",
    )
    .bind(id)
    .fetch_all(node.ledger.pool())
    .await
    .expect("the outbox is read")
}
