//! Whatever goes wrong: every captured payment ends in a confirmed reservation or in a refund.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::join_all;
use serde_json::{Value, json};
use tests::client::send;
use tests::sale::{Buyer, CheckoutNode, new_key};
use tests::sandbox::{Sandbox, paying_pair};
use tests::wait;

const PEOPLE: usize = 60;
/// Fewer than people want: some pay late for what is gone.
const PLACES: u32 = 40;

/// All that goes wrong, one after the other and over one another.
fn weather(round: usize) -> Value {
    match round % 8 {
        0 => json!({ "timeout_after_success": 4 }),
        1 => json!({ "broken_answers": 3, "duplicate_webhooks": 2 }),
        2 => json!({ "unavailable": 4, "latency_ms": 30 }),
        3 => json!({ "declines": 2, "webhook_before_answer": true }),
        4 => json!({ "refund_failures": 3, "webhook_delay_ms": 80 }),
        5 => json!({ "look_up_failures": 6, "webhook_before_answer": false }),
        6 => json!({ "webhooks": false, "processing": 3, "latency_ms": 60 }),
        _ => json!({ "webhooks": true, "duplicate_webhooks": 0, "webhook_delay_ms": 0 }),
    }
}

async fn one_person(nodes: [&CheckoutNode; 2], sector: &str, n: usize) {
    let ada: Buyer = nodes[n % 2].buyer("sale", &format!("person-{n}"));
    let elsewhere = ada.at(nodes[(n + 1) % 2]);
    let held = ada.reserve_one(sector).await;
    if held.status != 201 {
        return;
    }
    let (id, key) = (held.str("id"), new_key());
    let first = ada.pay_request(&id, "sandbox", "pm_good", &key).send();
    let meanwhile = async {
        charge_of(nodes[0], &id).await;
        match n % 5 {
            0 => drop(elsewhere.cancel(&id).await),
            1 => expire(nodes[0], &id).await,
            2 => drop(elsewhere.pay_with(&id, "pm_good", &key).await),
            3 => drop(elsewhere.pay(&id).await),
            _ => {}
        }
    };
    if n.is_multiple_of(3) {
        // Goes away in the middle of it.
        tokio::select! {
            _ = first => {}
            () = meanwhile => {}
        }
    } else {
        let _ = tokio::join!(first, meanwhile);
    }
}

/// Waits until a charge is written, and so on its way to the provider.
async fn charge_of(node: &CheckoutNode, id: &str) {
    wait::until("the charge", async || {
        let written: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT FROM payments WHERE reservation_id = $1::uuid)",
        )
        .bind(id)
        .fetch_one(node.ledger.pool())
        .await
        .expect("the payments are read");
        written.then_some(())
    })
    .await;
}

async fn expire(node: &CheckoutNode, id: &str) {
    sqlx::query(
        "UPDATE reservations SET expires_at = now() WHERE reservation_id = $1::uuid AND state = 'held'",
    )
    .bind(id)
    .execute(node.ledger.pool())
    .await
    .expect("the hold's end is set");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_any_weather_every_captured_payment_ends_in_a_confirmed_reservation_or_a_refund() {
    let quick = ["--payment-timeout-ms", "150", "--decision-wait-ms", "50"];
    let (sandbox, one, two) = paying_pair(&quick).await;
    let sector = one.on_sale("sale", PLACES).await;
    // Long enough to do something else meanwhile.
    sandbox.switch(json!({ "latency_ms": 40 })).await;
    let over = AtomicBool::new(false);
    let weather = async {
        let mut round = 0;
        while !over.load(Ordering::Relaxed) {
            sandbox.switch(weather(round)).await;
            complete_what_is_under_way(&sandbox, round).await;
            round += 1;
        }
    };
    let people = async {
        for wave in 0..4 {
            let wave = (0..PEOPLE / 4).map(|n| 4 * n + wave);
            join_all(wave.map(|n| one_person([&one, &two], &sector, n))).await;
        }
        over.store(true, Ordering::Relaxed);
    };
    tokio::join!(weather, people);
    // The sky clears.
    sandbox
        .switch(json!({
            "timeout_after_success": 0, "broken_answers": 0, "unavailable": 0, "declines": 0,
            "refund_failures": 0, "look_up_failures": 0, "processing": 0, "latency_ms": 0,
        }))
        .await;
    wait::until("every payment to be settled", async || {
        complete_what_is_under_way(&sandbox, 0).await;
        let left: i64 =
            sqlx::query_scalar("SELECT count(*) FROM payments WHERE next_check_at IS NOT NULL")
                .fetch_one(one.ledger.pool())
                .await
                .expect("the payments are read");
        (left == 0).then_some(())
    })
    .await;
    assert_paid_or_given_back(&sandbox, &one).await;
    one.assert_consistent("sale").await;
}

async fn complete_what_is_under_way(sandbox: &Sandbox, round: usize) {
    for (n, charge) in sandbox.done("charge", "processing").await.iter().enumerate() {
        let state = if (n + round) % 3 == 2 { "declined" } else { "succeeded" };
        let path = format!("/v1/operations/{}/complete", charge.key);
        let request = sandbox.client.request(reqwest::Method::POST, &path);
        send(request.json(&json!({ "state": state }))).await;
    }
}

/// By the provider's own ledger on one side and the reservations on the other.
async fn assert_paid_or_given_back(sandbox: &Sandbox, node: &CheckoutNode) {
    let given_back: HashSet<String> =
        sandbox.done("refund", "succeeded").await.into_iter().map(|one| one.charge_key).collect();
    let bought: Vec<(String, String, String)> = sqlx::query_as(
        "SELECT payment_id::text, bought_id::text, bought.state
         FROM payments
         JOIN reservations AS bought
            ON bought.event_id = payments.event_id AND bought.reservation_id = bought_id",
    )
    .fetch_all(node.ledger.pool())
    .await
    .expect("the payments are read");
    let by_payment: HashMap<&str, &(String, String, String)> =
        bought.iter().map(|row| (row.0.as_str(), row)).collect();
    let captured = sandbox.done("charge", "succeeded").await;
    assert!(!captured.is_empty() && !given_back.is_empty(), "it was no storm");
    let mut reservations = HashSet::new();
    for charge in &captured {
        match by_payment.get(charge.key.as_str()) {
            Some((_, reservation, state)) => {
                assert_eq!(state, "confirmed", "{charge:?}");
                assert!(
                    reservations.insert(reservation.clone()),
                    "{reservation} is paid for twice"
                );
                assert!(!given_back.contains(&charge.key), "{charge:?} was given back as well");
            }
            None => assert!(given_back.contains(&charge.key), "{charge:?} is lost"),
        }
    }
    let confirmed: i64 =
        sqlx::query_scalar("SELECT count(*) FROM reservations WHERE state = 'confirmed'")
            .fetch_one(node.ledger.pool())
            .await
            .expect("the reservations are read");
    assert_eq!(usize::try_from(confirmed).expect("few"), reservations.len(), "none is for nothing");
}
