//! Holds that are extended: once, while they live, and within the event's bound.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tests::client::{Answer, send};
use tests::sale::{Buyer, CheckoutNode, new_key, single};

async fn extend(buyer: &Buyer, id: &str, key: &str) -> Answer {
    let request = buyer.client.request(Method::POST, &format!("/v1/reservations/{id}/extend"));
    send(request.header("idempotency-key", key)).await
}

/// How long a hold lasts in all, and from now, in seconds of Postgres' clock.
async fn lasts(node: &CheckoutNode, id: &str) -> (f64, f64) {
    sqlx::query_as(
        "SELECT extract(epoch FROM expires_at - created_at)::float8,
            extract(epoch FROM expires_at - now())::float8
         FROM reservations WHERE reservation_id = $1::text::uuid",
    )
    .bind(id)
    .fetch_one(node.ledger.pool())
    .await
    .expect("the hold")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_hold_is_extended_once() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let reserved = ada.reserve_one(&sector).await.expect(201);
    let id = reserved.str("id");
    node.ledger.expire_after(&id, Duration::from_secs(30)).await;
    let key = new_key();
    let extended = extend(&ada, &id, &key).await.expect(200);
    assert_eq!(extended.str("state"), "held");
    let (_, left) = lasts(&node, &id).await;
    assert!((295.0..=300.0).contains(&left), "{left} s left");
    assert_eq!(ada.get(&id).await.expect(200).text, extended.text);

    let again = extend(&ada, &id, &key).await.expect(200);
    assert_eq!(again.text, extended.text);
    assert_eq!(again.header("idempotent-replayed"), "true");
    extend(&ada, &id, &new_key()).await.expect_problem(409, "invalid_transition");
    let bob = node.buyer("sale", "bob");
    extend(&bob, &id, &new_key()).await.expect_problem(404, "not_found");
    // The owner may do so by the reservation's own token too.
    let holder = node.with_token(reserved.str("reservation_token"));
    extend(&holder, &id, &new_key()).await.expect_problem(409, "invalid_transition");
    ada.confirm(&id).await.expect(200);
    extend(&ada, &id, &new_key()).await.expect_problem(409, "invalid_transition");
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_lasts_no_longer_in_all_than_its_event_allows() {
    let node = single(&[]).await;
    let settings = json!({"hold_ttl_seconds": 100, "max_hold_seconds": 130});
    let sector = node.on_sale_with("sale", &settings, &[10]).await.remove(0);
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    sqlx::query(
        "UPDATE reservations SET created_at = created_at - interval '60 seconds',
            expires_at = expires_at - interval '60 seconds'",
    )
    .execute(node.ledger.pool())
    .await
    .expect("a minute has passed");
    extend(&ada, &id, &new_key()).await.expect(200);
    let (in_all, _) = lasts(&node, &id).await;
    assert!((in_all - 130.0).abs() < 0.01, "{in_all} s in all");

    let settings = json!({"hold_ttl_seconds": 100, "max_hold_seconds": 100});
    let sector = node.on_sale_with("strict", &settings, &[10]).await.remove(0);
    let ada = node.buyer("strict", "ada");
    let id = ada.hold(&sector).await;
    extend(&ada, &id, &new_key()).await.expect_problem(409, "invalid_transition");
    let shown = node.ops.get("/v1/admin/events/strict").await.expect(200);
    assert_eq!(shown.number("max_hold_seconds"), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_ended_is_not_extended_swept_or_not() {
    let node = single(&["--sweep-interval-ms", "3600000"]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let (expired, cancelled) = (ada.hold(&sector).await, ada.hold(&sector).await);
    node.ledger.expire_after(&expired, Duration::ZERO).await;
    ada.cancel(&cancelled).await.expect(200);
    for id in [&expired, &cancelled] {
        extend(&ada, id, &new_key()).await.expect_problem(410, "hold_expired");
    }
    extend(&ada, &new_key(), &new_key()).await.expect_problem(404, "not_found");
    assert_eq!(node.ledger.state(&expired).await, "held");
}
