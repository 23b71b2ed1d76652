//! Paying for a reservation, by way of the sandbox provider.

mod crash;
mod described;
mod late;
mod races;
mod refunds;
mod storm;
mod stripe;
mod unknown;
mod webhooks;

use serde_json::json;
use tests::ledger::Stock;
use tests::sale::{new_key, single};
use tests::sandbox::{paying, paying_pair};

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_that_is_paid_for_is_confirmed() {
    let (sandbox, node) = paying(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let held = ada.reserve(&sector, 2, "key").await.expect(201);
    let id = held.str("id");
    assert_eq!(ada.payment(&id).await, json!(null), "nobody has paid yet");
    let paid = ada.pay(&id).await.expect(200).json();
    assert_eq!(paid["state"], "confirmed");
    assert_eq!(paid["payment"]["state"], "paid");
    assert_eq!(
        (&paid["payment"]["amount"], &paid["payment"]["currency"]),
        (&json!(2_000), &json!("EUR"))
    );
    let charges = sandbox.done("charge", "succeeded").await;
    assert_eq!(charges.len(), 1);
    assert_eq!((charges[0].amount, charges[0].orders), (2_000, 1));
    assert_eq!(charges[0].key, paid["payment"]["id"].as_str().expect("an id"));
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 8, 0, 2));
    node.assert_consistent("sale").await;
    // With the token of the reservation alone, too: it outlives the admission.
    let holder = node.with_token(held.str("reservation_token"));
    assert_eq!(holder.payment(&id).await["state"], "paid");
    node.buyer("sale", "bob").get(&id).await.expect_problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_on_pay_is_one_charge() {
    let (sandbox, one, two) = paying_pair(&[]).await;
    sandbox.switch(json!({ "latency_ms": 200 })).await;
    let sector = one.on_sale("sale", 10).await;
    let ada = one.buyer("sale", "ada");
    let elsewhere = ada.at(&two);
    let id = ada.hold(&sector).await;
    let key = new_key();
    // The same key twice, and other keys, at two instances, all at once.
    let (a, b, c, d) = tokio::join!(
        ada.pay_with(&id, "pm_good", &key),
        elsewhere.pay_with(&id, "pm_good", &key),
        ada.pay(&id),
        elsewhere.pay(&id),
    );
    for answer in [a, b, c, d] {
        assert!([200, 202].contains(&answer.status), "{answer:?}");
    }
    ada.payment_becomes(&id, "paid").await;
    let charges = sandbox.entries().await;
    assert_eq!(charges.len(), 1, "{charges:?}");
    assert_eq!(one.ledger.rows("payments").await, 1);
    // Another way to pay while one is under way or done is no double click.
    let other = ada.pay_with(&id, "pm_other", &new_key()).await;
    other.expect_problem(409, "invalid_transition");
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_tells_how_the_payment_stands_and_another_body_is_refused() {
    let (sandbox, node) = paying(&["--decision-wait-ms", "100"]).await;
    sandbox.switch(json!({ "processing": 1, "webhooks": false })).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    let first = ada.pay_with(&id, "pm_good", "key").await.expect(202);
    assert_eq!(first.header("location"), format!("/v1/reservations/{id}"));
    assert!(!first.header("retry-after").is_empty());
    assert_eq!(first.json()["payment"]["state"], "payment_processing");
    let again = ada.pay_with(&id, "pm_good", "key").await.expect(202);
    assert_eq!(again.header("idempotent-replayed"), "true");
    ada.pay_with(&id, "pm_other", "key").await.expect_problem(422, "idempotency_key_reused");
    let key = &sandbox.done("charge", "processing").await[0].key;
    let path = format!("/v1/operations/{key}/complete");
    let completed = sandbox.client.request(reqwest::Method::POST, &path);
    tests::client::send(completed.json(&json!({ "state": "succeeded" }))).await.expect(200);
    // Nobody tells: the reconciler asks.
    ada.payment_becomes(&id, "paid").await;
    let settled = ada.pay_with(&id, "pm_good", "key").await.expect(200);
    assert_eq!(settled.header("idempotent-replayed"), "true");
    assert_eq!(settled.str("state"), "confirmed");
    assert_eq!(sandbox.entries().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_card_leaves_the_hold_and_another_one_pays() {
    let (sandbox, node) = paying(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    let declined = ada.pay_with(&id, "pm_declined", &new_key()).await.expect(200).json();
    assert_eq!(declined["state"], "held");
    assert_eq!(declined["payment"]["state"], "payment_failed");
    assert_eq!(declined["payment"]["failure_code"], "card_declined");
    let paid = ada.pay(&id).await.expect(200).json();
    assert_eq!((&paid["state"], &paid["payment"]["state"]), (&json!("confirmed"), &json!("paid")));
    assert_eq!(sandbox.done("charge", "succeeded").await.len(), 1);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_held_is_not_paid_for() {
    let (sandbox, node) = paying(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    let gone = ada.hold(&sector).await;
    ada.cancel(&gone).await.expect(200);
    ada.pay_with(&gone, "pm_good", "gone").await.expect_problem(410, "hold_expired");
    ada.pay_with(&gone, "pm_good", "gone").await.expect_problem(410, "hold_expired");
    let expired = ada.hold(&sector).await;
    node.ledger.expire_after(&expired, std::time::Duration::ZERO).await;
    ada.pay(&expired).await.expect_problem(410, "hold_expired");
    let sold = ada.hold(&sector).await;
    ada.confirm(&sold).await.expect(200);
    ada.pay(&sold).await.expect_problem(409, "invalid_transition");
    let mine = ada.hold(&sector).await;
    bob.pay(&mine).await.expect_problem(404, "not_found");
    let unknown = ada.pay_request(&mine, "stripe", "pm_good", &new_key());
    tests::client::send(unknown).await.expect_problem(400, "invalid_request");
    for bad in ["", "a\nb", &"x".repeat(256)] {
        ada.pay_with(&mine, bad, &new_key()).await.expect_problem(400, "invalid_request");
    }
    let path = format!("/v1/reservations/{mine}/payment");
    let body = json!({ "provider": "sandbox", "payment_method": "pm_good" });
    let keyless = ada.client.request(reqwest::Method::POST, &path).json(&body);
    tests::client::send(keyless).await.expect_problem(400, "idempotency_key_missing");
    assert_eq!(sandbox.entries().await, vec![]);
    assert_eq!(node.ledger.rows("payments").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn places_that_cost_nothing_are_paid_for_without_a_provider() {
    let (sandbox, node) = paying(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let free = json!({ "sectors": [{ "sector_id": sector, "price": 0 }] });
    node.ops.patch("/v1/admin/events/sale", &free).await.expect(200);
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    assert_eq!(ada.pay(&id).await.expect(200).str("state"), "confirmed");
    assert_eq!(sandbox.entries().await, vec![]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_provider_nobody_pays_and_no_webhook_is_taken() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.pay(&id).await.expect_problem(400, "invalid_request");
    for provider in ["sandbox", "stripe", "other"] {
        let path = format!("/v1/webhooks/payments/{provider}");
        node.public.post(&path).await.expect_problem(404, "not_found");
    }
}
