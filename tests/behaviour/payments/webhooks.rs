//! What the provider tells by itself.

use serde_json::json;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode};
use tests::sandbox::{SECRET, Sandbox, now, paying, send_webhook, signature, webhook};

/// Somebody whose payment is under way, and what the provider could say of it. The provider itself says
/// nothing.
async fn under_way(
    node: &CheckoutNode,
    sandbox: &Sandbox,
    ada: &Buyer,
) -> (String, String, String) {
    sandbox
        .switch(json!({ "processing": 1, "webhooks": false, "look_up_failures": 1_000_000 }))
        .await;
    let sector = node.on_sale("sale", 10).await;
    let id = ada.hold(&sector).await;
    let told = ada.pay(&id).await.expect(202).json();
    let payment = told["payment"]["id"].as_str().expect("an id").to_owned();
    (id, payment, sector)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_comes_twice_is_taken_once() {
    let (sandbox, node) = paying(&[]).await;
    let ada = node.buyer("sale", "ada");
    let (id, payment, sector) = under_way(&node, &sandbox, &ada).await;
    let body = webhook("evt_1", &payment, &payment, "succeeded");
    let signed = signature(SECRET, now(), &body);
    for _ in 0..3 {
        send_webhook(&node, &body, &signed).await.expect(204);
    }
    let other = webhook("evt_2", &payment, &payment, "succeeded");
    let other_signed = signature(SECRET, now(), &other);
    let both = tokio::join!(
        send_webhook(&node, &body, &signed),
        send_webhook(&node, &other, &other_signed),
    );
    assert_eq!((both.0.status, both.1.status), (204, 204));
    assert_eq!(node.ledger.rows("payment_webhooks").await, 2);
    assert_eq!(ada.payment(&id).await["state"], "paid");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 0, 1));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_that_the_provider_sends_three_times_and_before_its_own_answer_are_one_payment() {
    let (sandbox, node) = paying(&[]).await;
    sandbox.switch(json!({ "webhook_before_answer": true, "duplicate_webhooks": 2 })).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    let paid = ada.pay(&id).await.expect(200).json();
    assert_eq!(paid["payment"]["state"], "paid");
    assert_eq!(node.ledger.rows("payment_webhooks").await, 1, "the answer came after them");
    assert_eq!(sandbox.entries().await.len(), 1);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 0, 1));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_alone_settles_what_was_never_answered() {
    let quick = ["--payment-timeout-ms", "60000", "--decision-wait-ms", "100"];
    let (sandbox, node) = paying(&quick).await;
    // The reconciler would not ask before two minutes have passed.
    sandbox.switch(json!({ "timeout_after_success": 1, "webhook_delay_ms": 300 })).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.pay(&id).await.expect(202);
    ada.payment_becomes(&id, "paid").await;
    assert_eq!(sandbox.entries().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_webhook_changes_nothing() {
    let (sandbox, node) = paying(&[]).await;
    let ada = node.buyer("sale", "ada");
    let (id, payment, _) = under_way(&node, &sandbox, &ada).await;
    let body = webhook("evt_1", &payment, &payment, "succeeded");
    let good = signature(SECRET, now(), &body);
    let (time, tag) = good.split_once(',').expect("a time and a signature");
    let another = body.replace("1000", "1001");
    for (body, signature) in [
        (&body, signature("not-the-secret-at-all", now(), &body)),
        (&another, good.clone()),
        (&body, format!("t={},{tag}", now() + 1)),
        (&body, time.to_owned()),
        (&body, tag.to_owned()),
        (&body, format!("{time},v0={}", &tag[3..])),
        (&body, String::new()),
    ] {
        send_webhook(&node, body, &signature).await.expect_problem(400, "invalid_request");
    }
    let plain = node.public.post("/v1/webhooks/payments/sandbox").await;
    plain.expect_problem(400, "invalid_request");
    assert_eq!(node.ledger.rows("payment_webhooks").await, 0);
    assert_eq!(ada.payment(&id).await["state"], "payment_processing");
    // The very same, signed as it should be, is taken.
    send_webhook(&node, &body, &good).await.expect(204);
    assert_eq!(ada.payment(&id).await["state"], "paid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_with_an_old_timestamp_is_not_taken_again() {
    let (sandbox, node) = paying(&["--webhook-tolerance-seconds", "60"]).await;
    let ada = node.buyer("sale", "ada");
    let (id, payment, _) = under_way(&node, &sandbox, &ada).await;
    let body = webhook("evt_1", &payment, &payment, "succeeded");
    for at in [now() - 120, now() + 120] {
        let old = signature(SECRET, at, &body);
        send_webhook(&node, &body, &old).await.expect_problem(400, "invalid_request");
    }
    assert_eq!(ada.payment(&id).await["state"], "payment_processing");
    send_webhook(&node, &body, &signature(SECRET, now() - 30, &body)).await.expect(204);
    assert_eq!(ada.payment(&id).await["state"], "paid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_replaced_without_losing_a_webhook() {
    let secrets = format!("the-next-secret-of-them,{SECRET}");
    let (sandbox, node) = paying(&["--sandbox-webhook-secrets", &secrets]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    for secret in [SECRET, "the-next-secret-of-them"] {
        let before = node.ledger.rows("payment_webhooks").await;
        let first = json!({ "webhook_before_answer": true, "webhook_secret": secret });
        sandbox.switch(first).await;
        let id = ada.hold(&sector).await;
        assert_eq!(ada.pay(&id).await.expect(200).json()["payment"]["state"], "paid");
        assert_eq!(node.ledger.rows("payment_webhooks").await, before + 1, "{secret}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_in_the_wrong_order_take_nothing_back() {
    let (sandbox, node) = paying(&[]).await;
    let ada = node.buyer("sale", "ada");
    let (id, payment, sector) = under_way(&node, &sandbox, &ada).await;
    for (n, state) in ["succeeded", "processing", "declined", "voided"].into_iter().enumerate() {
        let body = webhook(&format!("evt_{n}"), &payment, &payment, state);
        send_webhook(&node, &body, &signature(SECRET, now(), &body)).await.expect(204);
        assert_eq!(ada.payment(&id).await["state"], "paid", "after {state}");
    }
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_about_nothing_of_ours_is_taken_and_forgotten() {
    let (sandbox, node) = paying(&[]).await;
    let ada = node.buyer("sale", "ada");
    let (id, payment, _) = under_way(&node, &sandbox, &ada).await;
    let stranger = tests::sale::new_key();
    let unknown = webhook("evt_1", &stranger, &stranger, "succeeded");
    let elsewhere = webhook("evt_2", &payment, &payment, "succeeded").replace("sale", "other");
    let nobody = json!({
        "id": "evt_3",
        "operation": { "id": "sb", "key": "k", "state": "succeeded", "amount": 1, "metadata": null },
    });
    // Another sum than the one that was ordered is no payment.
    let less = webhook("evt_4", &payment, &payment, "succeeded").replace("1000", "1");
    for body in [unknown, elsewhere, nobody.to_string(), less] {
        send_webhook(&node, &body, &signature(SECRET, now(), &body)).await.expect(204);
        assert_eq!(ada.payment(&id).await["state"], "payment_processing", "{body}");
    }
    let large = " ".repeat(300 * 1024);
    let answer = send_webhook(&node, &large, &signature(SECRET, now(), &large)).await;
    answer.expect_problem(413, "payload_too_large");
    let nonsense = "{}";
    let answer = send_webhook(&node, nonsense, &signature(SECRET, now(), nonsense)).await;
    answer.expect_problem(400, "invalid_request");
}
