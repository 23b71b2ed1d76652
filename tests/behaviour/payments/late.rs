//! The money comes when the hold is over.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tests::client::send;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode};
use tests::sandbox::{Sandbox, paying};

/// Somebody whose payment is under way at the provider when their hold ends.
async fn pays_late(node: &CheckoutNode, sandbox: &Sandbox, ada: &Buyer, sector: &str) -> String {
    sandbox.switch(json!({ "processing": 1 })).await;
    let id = ada.hold(sector).await;
    ada.pay(&id).await.expect(202);
    node.ledger.expire_after(&id, Duration::ZERO).await;
    node.ledger.becomes(&id, "expired").await;
    ada.payment_becomes(&id, "confirming_availability").await;
    id
}

/// The provider ends what it is at.
async fn complete(sandbox: &Sandbox, state: &str) {
    let key = &sandbox.done("charge", "processing").await[0].key;
    let path = format!("/v1/operations/{key}/complete");
    let request = sandbox.client.request(Method::POST, &path).json(&json!({ "state": state }));
    send(request).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_succeeds_after_expiry_buys_the_places_again_if_there_are_any() {
    let (sandbox, node) = paying(&["--decision-wait-ms", "100"]).await;
    let sector = node.on_sale("sale", 1).await;
    let ada = node.buyer("sale", "ada");
    let id = pays_late(&node, &sandbox, &ada, &sector).await;
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(1, 1, 0, 0));
    complete(&sandbox, "succeeded").await;
    let payment = ada.payment_becomes(&id, "recovered").await;
    assert_eq!(ada.get(&id).await.str("state"), "expired", "a hold leaves `held` once");
    let another = payment["reservation_id"].as_str().expect("another reservation");
    let bought = ada.get(another).await.expect(200).json();
    assert_eq!((&bought["state"], &bought["total"]), (&json!("confirmed"), &json!(1_000)));
    assert_eq!(bought["payment"]["state"], "paid");
    // Whoever has only the first reservation's token gets at the other one by it.
    let holder = node.with_token(payment["reservation_token"].as_str().expect("its token"));
    holder.get(another).await.expect(200);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(1, 0, 0, 1));
    assert_eq!(sandbox.done("refund", "succeeded").await, vec![]);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_succeeds_after_expiry_goes_back_when_all_is_sold() {
    let (sandbox, node) = paying(&["--decision-wait-ms", "100"]).await;
    let sector = node.on_sale("sale", 1).await;
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    let id = pays_late(&node, &sandbox, &ada, &sector).await;
    let other = bob.hold(&sector).await;
    bob.confirm(&other).await.expect(200);
    complete(&sandbox, "succeeded").await;
    ada.payment_becomes(&id, "refunded").await;
    assert_eq!(ada.get(&id).await.str("state"), "expired");
    let refunds = sandbox.done("refund", "succeeded").await;
    assert_eq!((refunds.len(), refunds[0].amount), (1, 1_000));
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(1, 0, 0, 1));
    assert_eq!(owed_for(&node).await, ["sold_out"]);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_payment_for_more_than_one_person_may_have_goes_back() {
    let (sandbox, node) = paying(&["--decision-wait-ms", "100"]).await;
    let settings = json!({ "max_per_user": 1 });
    let sector = node.on_sale_with("sale", &settings, &[10]).await.remove(0);
    let ada = node.buyer("sale", "ada");
    let id = pays_late(&node, &sandbox, &ada, &sector).await;
    ada.hold(&sector).await;
    complete(&sandbox, "succeeded").await;
    ada.payment_becomes(&id, "refunded").await;
    assert_eq!(owed_for(&node).await, ["purchase_limit"]);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 1, 0));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_basket_of_which_one_sector_is_sold_out_is_given_back_whole() {
    let (sandbox, node) = paying(&["--decision-wait-ms", "100"]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[5, 1]).await;
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    sandbox.switch(json!({ "processing": 1 })).await;
    let both = [(sectors[0].as_str(), 1), (sectors[1].as_str(), 1)];
    let id = ada.reserve_items(&both, "key").await.expect(201).str("id");
    ada.pay(&id).await.expect(202);
    node.ledger.expire_after(&id, Duration::ZERO).await;
    node.ledger.becomes(&id, "expired").await;
    bob.hold(&sectors[1]).await;
    complete(&sandbox, "succeeded").await;
    ada.payment_becomes(&id, "refunded").await;
    assert_eq!(node.ledger.stock(&sectors[0]).await, Stock::of(5, 5, 0, 0));
    assert_eq!(sandbox.done("refund", "succeeded").await[0].amount, 2_000);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_payment_before_the_sweeper_comes_buys_the_very_places() {
    let slow = ["--sweep-interval-ms", "3600000", "--decision-wait-ms", "100"];
    let (sandbox, node) = paying(&slow).await;
    let sector = node.on_sale("sale", 1).await;
    let ada = node.buyer("sale", "ada");
    sandbox.switch(json!({ "processing": 1 })).await;
    let id = ada.hold(&sector).await;
    ada.pay(&id).await.expect(202);
    node.ledger.expire_after(&id, Duration::ZERO).await;
    complete(&sandbox, "succeeded").await;
    ada.payment_becomes(&id, "recovered").await;
    assert_eq!(node.ledger.state(&id).await, "expired");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(1, 0, 0, 1));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_that_is_cancelled_while_it_is_paid_for_ends_in_a_refund_or_without_a_charge()
{
    let (sandbox, node) = paying(&["--decision-wait-ms", "100"]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    // The provider is faster: what was taken goes back.
    sandbox.switch(json!({ "timeout_after_success": 1, "webhooks": false })).await;
    let id = ada.hold(&sector).await;
    ada.pay(&id).await.expect(202);
    ada.cancel(&id).await.expect(200);
    ada.payment_becomes(&id, "refunded").await;
    assert_eq!(ada.get(&id).await.str("state"), "cancelled");
    assert_eq!(owed_for(&node).await, ["cancelled"]);
    assert_eq!(sandbox.done("refund", "succeeded").await.len(), 1);
    // The cancellation is faster: nothing is taken any more.
    sandbox.switch(json!({ "processing": 1 })).await;
    let id = ada.hold(&sector).await;
    ada.pay(&id).await.expect(202);
    ada.cancel(&id).await.expect(200);
    ada.payment_becomes(&id, "payment_failed").await;
    assert_eq!(sandbox.done("charge", "voided").await.len(), 1);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 10, 0, 0));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn money_that_was_taken_for_a_charge_that_had_failed_goes_back() {
    let (sandbox, node) = paying(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    sandbox.switch(json!({ "declines": 1, "webhooks": false })).await;
    let failed = ada.pay(&id).await.expect(200).json()["payment"].clone();
    // Another charge pays; then the provider says of the first one that it went well after all. The
    // sandbox would never have charged it, so its refund is refused: it stays owed, and is told so.
    ada.pay(&id).await.expect(200);
    let payment = failed["id"].as_str().expect("an id");
    let body = tests::sandbox::webhook("evt_late", payment, payment, "succeeded");
    let signed = tests::sandbox::signature(tests::sandbox::SECRET, tests::sandbox::now(), &body);
    tests::sandbox::send_webhook(&node, &body, &signed).await.expect(204);
    let surplus: i64 = sqlx::query_scalar("SELECT count(*) FROM payments WHERE surplus")
        .fetch_one(node.ledger.pool())
        .await
        .expect("the payments are read");
    assert_eq!(surplus, 1);
    assert_eq!(owed_for(&node).await, ["surplus"]);
    assert_eq!(ada.payment(&id).await["state"], "paid");
    node.assert_consistent("sale").await;
}

async fn owed_for(node: &CheckoutNode) -> Vec<Value> {
    let reasons: Vec<String> =
        sqlx::query_scalar("SELECT reason FROM payments WHERE kind = 'refund'")
            .fetch_all(node.ledger.pool())
            .await
            .expect("the refunds are read");
    reasons.into_iter().map(Value::from).collect()
}
