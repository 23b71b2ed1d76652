//! Nobody knows whether the money has moved.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tests::client::send;
use tests::ledger::Stock;
use tests::sale::new_key;
use tests::sandbox::paying;

/// Quick to give up waiting for the provider, and to answer meanwhile.
const QUICK: [&str; 4] = ["--payment-timeout-ms", "300", "--decision-wait-ms", "100"];

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_after_the_provider_had_charged_is_one_charge_and_a_confirmed_reservation() {
    let (sandbox, node) = paying(&QUICK).await;
    sandbox.switch(json!({ "timeout_after_success": 1, "webhooks": false })).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    let told = ada.pay_with(&id, "pm_good", "key").await.expect(202).json();
    assert_eq!(told["payment"]["state"], "payment_processing", "a timeout is no failure");
    // Whoever does not want to wait and pays again does not pay twice.
    ada.pay_with(&id, "pm_good", "key").await;
    ada.pay(&id).await;
    ada.payment_becomes(&id, "paid").await;
    let charges = sandbox.entries().await;
    assert_eq!(charges.len(), 1, "{charges:?}");
    assert_eq!(charges[0].orders, 1, "what was found by asking is not ordered again");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 0, 1));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_answer_is_no_failure_either() {
    let (sandbox, node) = paying(&QUICK).await;
    sandbox.switch(json!({ "broken_answers": 1, "look_up_failures": 3, "webhooks": false })).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.pay(&id).await;
    ada.payment_becomes(&id, "paid").await;
    assert_eq!(sandbox.entries().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_reached_the_provider_is_sent_again_under_the_same_key() {
    let (sandbox, node) = paying(&QUICK).await;
    sandbox.switch(json!({ "unavailable": 3 })).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.pay(&id).await;
    let payment = ada.payment_becomes(&id, "paid").await;
    let charges = sandbox.entries().await;
    assert_eq!(charges.len(), 1);
    assert_eq!(charges[0].key, payment["id"].as_str().expect("an id"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_reached_the_provider_is_withdrawn_when_the_hold_is_over() {
    let (sandbox, node) = paying(&QUICK).await;
    sandbox.switch(json!({ "unavailable": 1_000_000 })).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.pay(&id).await.expect(202);
    node.ledger.expire_after(&id, Duration::ZERO).await;
    let payment = ada.payment_becomes(&id, "payment_failed").await;
    // Had it been on its way all the time, it would come too late to take anything.
    sandbox.switch(json!({ "unavailable": 0 })).await;
    let order = json!({ "key": payment["id"], "amount": 1_000, "currency": "EUR" });
    let late = sandbox.client.request(Method::POST, "/v1/charges").json(&order);
    assert_eq!(send(late).await.expect(402).str("state"), "voided");
    assert_eq!(sandbox.done("charge", "succeeded").await, vec![]);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 10, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_provider_is_away_the_sale_goes_on() {
    let (sandbox, node) = paying(&QUICK).await;
    sandbox.switch(json!({ "latency_ms": 100_000 })).await;
    let sector = node.on_sale("sale", 100).await;
    let people = node.crowd("sale", 40);
    for ada in &people[..20] {
        let id = ada.hold(&sector).await;
        ada.pay_with(&id, "pm_good", &new_key()).await.expect(202);
    }
    for bob in &people[20..] {
        bob.hold(&sector).await;
    }
    node.ledger.assert_no_open_transaction().await;
    node.assert_consistent("sale").await;
}
