//! The states of a reservation.

use std::time::Duration;

use serde_json::json;
use tests::ledger::Stock;
use tests::sale::{pair, single};

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_reservation_is_sold_for_good() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let held = buyer.reserve(&sector, 3, "key").await.expect(201);
    let id = held.str("id");
    let confirmed = buyer.confirm(&id).await.expect(200);
    assert_eq!(confirmed.str("state"), "confirmed");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 7, 0, 3));

    let again = buyer.confirm(&id).await.expect(200);
    assert_eq!(again.text, confirmed.text);
    buyer.cancel(&id).await.expect_problem(409, "invalid_transition");
    assert_eq!(buyer.get(&id).await.expect(200).text, confirmed.text);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 7, 0, 3));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_reservation_outlives_the_end_of_its_hold() {
    let node = single(&["--sweep-interval-ms", "10"]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let (sold, lost) = (buyer.hold(&sector).await, buyer.hold(&sector).await);
    buyer.confirm(&sold).await.expect(200);
    sqlx::query("UPDATE reservations SET expires_at = now()")
        .execute(node.ledger.pool())
        .await
        .expect("all holds end");
    node.ledger.becomes(&lost, "expired").await;
    assert_eq!(node.ledger.state(&sold).await, "confirmed");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 0, 1));
    buyer.confirm(&sold).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_hold_gives_its_places_back_once() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    ada.hold(&sector).await;
    let id = bob.reserve(&sector, 3, "key").await.expect(201).str("id");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 6, 4, 0));
    let cancelled = bob.cancel(&id).await.expect(200);
    assert_eq!(cancelled.str("state"), "cancelled");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 1, 0));

    assert_eq!(bob.cancel(&id).await.expect(200).text, cancelled.text);
    bob.confirm(&id).await.expect_problem(410, "hold_expired");
    assert_eq!(bob.get(&id).await.expect(200).str("state"), "cancelled");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 1, 0));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_hold_gives_its_places_back_and_cannot_be_bought_any_more() {
    let (one, _two) = pair(&["--sweep-interval-ms", "10"]).await;
    let sector = one.on_sale("sale", 10).await;
    let buyer = one.buyer("sale", "ada");
    buyer.reserve(&sector, 1, "kept").await.expect(201);
    let id = buyer.reserve(&sector, 2, "key").await.expect(201).str("id");
    one.ledger.expire_after(&id, Duration::ZERO).await;
    one.ledger.becomes(&id, "expired").await;
    assert_eq!(buyer.get(&id).await.expect(200).str("state"), "expired");
    buyer.confirm(&id).await.expect_problem(410, "hold_expired");
    buyer.cancel(&id).await.expect_problem(410, "hold_expired");
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(10, 9, 1, 0));
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_sweeper_does_not_lengthen_a_hold() {
    let node = single(&["--sweep-interval-ms", "3600000"]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let id = buyer.hold(&sector).await;
    node.ledger.expire_after(&id, Duration::ZERO).await;
    assert_eq!(buyer.get(&id).await.expect(200).str("state"), "expired");
    buyer.confirm(&id).await.expect_problem(410, "hold_expired");
    buyer.cancel(&id).await.expect_problem(410, "hold_expired");
    assert_eq!(node.ledger.state(&id).await, "held");
    // Not swept yet is overdue, and not wrong.
    let report = node.reconcile("sale").await;
    assert_eq!((&report["consistent"], &report["overdue_holds"]), (&json!(true), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_ends_when_its_event_says_so() {
    let node = single(&["--sweep-interval-ms", "10"]).await;
    let settings = json!({"hold_ttl_seconds": 1});
    let sector = node.on_sale_with("sale", &settings, &[10]).await.remove(0);
    let buyer = node.buyer("sale", "ada");
    let id = buyer.hold(&sector).await;
    let seconds: f64 = sqlx::query_scalar(
        "SELECT extract(epoch FROM expires_at - created_at)::float8 FROM reservations",
    )
    .fetch_one(node.ledger.pool())
    .await
    .expect("the hold");
    assert!((seconds - 1.0).abs() < 0.001, "{seconds} s");
    node.ledger.becomes(&id, "expired").await;
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 10, 0, 0));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_hold_that_cannot_be_ended_does_not_stop_the_sweep() {
    let node = single(&["--sweep-interval-ms", "10"]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10, 10]).await;
    let buyer = node.buyer("sale", "ada");
    let (bad, good) = (buyer.hold(&sectors[0]).await, buyer.hold(&sectors[1]).await);
    // Its places are counted nowhere, so that giving them back breaks a CHECK.
    sqlx::query("UPDATE sector_stock SET held = 0, available = 10 WHERE sector_id = $1::uuid")
        .bind(&sectors[0])
        .execute(node.ledger.pool())
        .await
        .expect("the stock is changed");
    sqlx::query("UPDATE reservations SET expires_at = now()")
        .execute(node.ledger.pool())
        .await
        .expect("all holds end");
    node.ledger.becomes(&good, "expired").await;
    assert_eq!(node.ledger.state(&bad).await, "held");
    assert_eq!(node.ledger.stock(&sectors[1]).await, Stock::of(10, 10, 0, 0));
    assert_eq!(node.reconcile("sale").await["consistent"], json!(false));
}
