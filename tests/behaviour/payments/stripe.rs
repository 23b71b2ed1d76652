//! The Stripe adapter, against a server that speaks its documented wire format.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tests::client::{Answer, send};
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode, new_key, single};
use tests::sandbox::{now, signature};
use tests::stripe::{KEY, SECRET, StripeServer, event};
use tests::wait;

async fn paying() -> (StripeServer, CheckoutNode, String) {
    paying_with(&["--payment-timeout-ms", "500"]).await
}

async fn paying_with(more: &[&str]) -> (StripeServer, CheckoutNode, String) {
    let stripe = StripeServer::start().await;
    let secrets = format!("whsec_of_before_the_tests,{SECRET}");
    let mut flags = vec![
        ("--stripe-url", stripe.url.as_str()),
        ("--stripe-key", KEY),
        ("--stripe-webhook-secrets", &secrets),
        ("--payment-check-interval-ms", "40"),
        ("--decision-wait-ms", "3000"),
        ("--sweep-interval-ms", "20"),
    ];
    flags.extend(more.chunks(2).map(|pair| (pair[0], pair[1])));
    let flags: Vec<&str> = flags.into_iter().flat_map(|(flag, value)| [flag, value]).collect();
    let node = single(&flags).await;
    let sector = node.on_sale("sale", 10).await;
    (stripe, node, sector)
}

async fn pay(buyer: &Buyer, id: &str, method: &str) -> Answer {
    send(buyer.pay_request(id, "stripe", method, &new_key())).await
}

async fn tell(node: &CheckoutNode, body: &str, signature: &str) -> Answer {
    let request = node.public.request(Method::POST, "/v1/webhooks/payments/stripe");
    send(request.header("stripe-signature", signature).body(body.to_owned())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_intent_is_made_named_and_confirmed() {
    let (stripe, node, sector) = paying().await;
    let ada = node.buyer("sale", "ada");
    let id = ada.reserve(&sector, 2, "key").await.expect(201).str("id");
    let paid = pay(&ada, &id, "pm_card_visa").await.expect(200).json();
    assert_eq!((&paid["state"], &paid["payment"]["state"]), (&json!("confirmed"), &json!("paid")));
    let payment = paid["payment"]["id"].as_str().expect("an id");
    let [(_, created, form), (path, confirmed, method)] = &stripe.posts()[..] else {
        panic!("not two posts: {:?}", stripe.posts())
    };
    assert_eq!(created["idempotency-key"], payment);
    assert_eq!((form["amount"].as_str(), form["currency"].as_str()), ("2000", "eur"));
    assert_eq!(form["metadata[stanchion_payment]"], payment);
    assert_eq!(form["metadata[stanchion_event]"], "sale");
    assert_eq!(form["metadata[stanchion_reservation]"], id);
    assert_eq!(form["automatic_payment_methods[allow_redirects]"], "never");
    assert!(path.ends_with("/confirm"), "{path}");
    assert_eq!(confirmed["idempotency-key"], format!("{payment}-confirm").as_str());
    assert_eq!(method["payment_method"], "pm_card_visa");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 8, 0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_card_is_told_by_its_decline_code() {
    let (_stripe, node, sector) = paying().await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    let declined = pay(&ada, &id, "pm_card_chargeDeclined").await.expect(200).json();
    assert_eq!(declined["payment"]["state"], "payment_failed");
    assert_eq!(declined["payment"]["failure_code"], "generic_decline");
    let missing = pay(&ada, &id, "pm_missing").await.expect(200).json();
    assert_eq!(missing["payment"]["failure_code"], "resource_missing");
    let paid = pay(&ada, &id, "pm_card_visa").await.expect(200);
    assert_eq!(paid.str("state"), "confirmed");
    let cheap = json!({ "sectors": [{ "sector_id": sector, "price": 1 }] });
    node.ops.patch("/v1/admin/events/sale", &cheap).await.expect(200);
    let id = ada.hold(&sector).await;
    let small = pay(&ada, &id, "pm_card_visa").await.expect(200).json();
    assert_eq!(small["payment"]["failure_code"], "amount_too_small");
}

/// A name that comes too late, as after a process has stood still for long, leads to no charge.
#[tokio::test(flavor = "multi_thread")]
async fn a_charge_that_was_withdrawn_before_it_had_a_name_is_not_confirmed() {
    let (stripe, node, sector) = paying_with(&["--payment-timeout-ms", "20000"]).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    let creates = stripe.hold_creates().await;
    pay(&ada, &id, "pm_card_visa").await.expect(202);
    node.ledger.expire_after(&id, Duration::ZERO).await;
    sqlx::query("UPDATE payments SET next_check_at = now()")
        .execute(node.ledger.pool())
        .await
        .expect("it is looked after now");
    let payment = ada.payment_becomes(&id, "payment_failed").await;
    assert_eq!(payment["failure_code"], "withdrawn");
    drop(creates);
    wait::until("the PaymentIntent", async || (stripe.intents().len() == 1).then_some(())).await;
    node.ledger.last_statement().await;
    assert_eq!(stripe.posts().len(), 1, "it was made, and never confirmed");
    assert_eq!(stripe.intents()[0]["status"], "requires_payment_method");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_whose_answer_is_lost_is_found_by_its_name() {
    let (stripe, node, sector) = paying().await;
    stripe.be_silent(1);
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    pay(&ada, &id, "pm_card_visa").await;
    ada.payment_becomes(&id, "paid").await;
    assert_eq!(stripe.intents().len(), 1);
    assert_eq!(stripe.posts().len(), 2, "what was found by asking is not confirmed again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_asks_its_owner_is_paid_when_the_webhook_says_so() {
    let (stripe, node, sector) = paying().await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    let asked = pay(&ada, &id, "pm_card_authenticationRequired").await.expect(202).json();
    assert_eq!(asked["payment"]["state"], "action_required");
    let intent = stripe.intents().remove(0);
    assert_eq!(asked["payment"]["action"], intent["client_secret"]);
    let name = intent["id"].as_str().expect("a name");
    stripe.change(name, &json!({ "status": "succeeded", "amount_received": 1_000 }));
    let (body, signed) = event("evt_1", "payment_intent.succeeded", &stripe.intents()[0]);
    tell(&node, &body, &signed).await.expect(204);
    tell(&node, &body, &signed).await.expect(204);
    let payment = ada.payment(&id).await;
    assert_eq!((&payment["state"], &payment["action"]), (&json!("paid"), &Value::Null));
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_whose_owner_does_not_come_back_is_cancelled_with_the_hold() {
    let (stripe, node, sector) = paying().await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    pay(&ada, &id, "pm_card_authenticationRequired").await.expect(202);
    node.ledger.expire_after(&id, Duration::ZERO).await;
    ada.payment_becomes(&id, "payment_failed").await;
    assert_eq!(stripe.intents()[0]["status"], "canceled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_payment_for_what_is_sold_goes_back_under_a_key_of_its_own() {
    let (stripe, node, sector) = paying().await;
    let all = json!({ "sectors": [{ "sector_id": sector, "capacity": 1 }] });
    node.ops.patch("/v1/admin/events/sale", &all).await.expect(200);
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    let id = ada.hold(&sector).await;
    pay(&ada, &id, "pm_card_authenticationRequired").await.expect(202);
    let name = stripe.intents()[0]["id"].as_str().expect("a name").to_owned();
    stripe.change(&name, &json!({ "status": "processing" }));
    node.ledger.expire_after(&id, Duration::ZERO).await;
    node.ledger.becomes(&id, "expired").await;
    bob.hold(&sector).await;
    stripe.change(&name, &json!({ "status": "succeeded", "amount_received": 1_000 }));
    ada.payment_becomes(&id, "refunded").await;
    let refunds = stripe.refunds();
    assert_eq!((refunds.len(), &refunds[0]["amount"]), (1, &json!(1_000)));
    let (_, headers, form) = stripe.posts().pop().expect("the refund");
    assert_eq!(headers["idempotency-key"], form["metadata[stanchion_payment]"].as_str());
    assert_eq!(form["payment_intent"], name);
    // Stripe may still say that it has come back: it is looked at, and not paid twice.
    let (body, signed) = event("evt_r", "refund.updated", &refunds[0]);
    tell(&node, &body, &signed).await.expect(204);
    assert_eq!(stripe.refunds().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_forged_old_or_about_something_else_change_nothing() {
    let (stripe, node, sector) = paying().await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    pay(&ada, &id, "pm_card_authenticationRequired").await.expect(202);
    let mut object = stripe.intents().remove(0);
    object["status"] = json!("succeeded");
    object["amount_received"] = json!(1_000);
    let (body, signed) = event("evt_1", "payment_intent.succeeded", &object);
    let old = signature(SECRET, now() - 600, &body);
    for bad in [signature("whsec_of_somebody_else", now(), &body), old, String::new()] {
        tell(&node, &body, &bad).await.expect_problem(400, "invalid_request");
    }
    for other in [
        json!({ "object": "charge" }),
        json!({ "object": "payment_intent", "id": "pi_x",
        "status": "succeeded", "amount_received": 1_000, "metadata": {} }),
    ] {
        let (body, signed) = event("evt_2", "charge.succeeded", &other);
        tell(&node, &body, &signed).await.expect(204);
    }
    assert_eq!(ada.payment(&id).await["state"], "action_required");
    // The secret of before is good until it is taken out.
    let before = signature("whsec_of_before_the_tests", now(), &body);
    tell(&node, &body, &before).await.expect(204);
    assert_eq!(ada.payment(&id).await["state"], "paid");
    assert!(signed.starts_with("t="));
}
