//! A change and its row in the outbox are there both or not at all, and nothing is lost on the way.

use serde_json::json;
use sqlx::AssertSqlSafe;
use tests::ledger::{Ledger, Stock};
use tests::sale::{CheckoutNode, CheckoutProcess, new_key, single};
use tests::shop::{Attempt, Reply, SECRET, Shop};
use tests::stores;

/// From here on Postgres refuses rows of this kind.
async fn refuse(node: &CheckoutNode, kind: &str) {
    let sql = format!(
        "ALTER TABLE reservation_events
         ADD CONSTRAINT no_{kind} CHECK (kind <> '{kind}') NOT VALID"
    );
    sqlx::query(AssertSqlSafe(sql)).execute(node.ledger.pool()).await.expect("it is refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_row_in_the_outbox_no_change_happens() {
    let node = single(&[]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10, 10]).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sectors[0]).await;
    let before = node.ledger.stock(&sectors[0]).await;
    assert_eq!(before, Stock::of(10, 9, 1, 0));

    refuse(&node, "confirmed").await;
    assert_eq!(ada.confirm(&id).await.status, 500);
    refuse(&node, "cancelled").await;
    assert_eq!(ada.cancel(&id).await.status, 500);
    refuse(&node, "extended").await;
    let extend =
        ada.client.request(reqwest::Method::POST, &format!("/v1/reservations/{id}/extend"));
    let extended = tests::client::send(extend.header("idempotency-key", new_key())).await;
    assert_eq!(extended.status, 500);
    refuse(&node, "held").await;
    assert_eq!(ada.reserve_one(&sectors[0]).await.status, 500);
    let basket = [(sectors[0].as_str(), 1), (sectors[1].as_str(), 1)];
    assert_eq!(ada.reserve_items(&basket, &new_key()).await.status, 500);

    assert_eq!(node.ledger.state(&id).await, "held");
    assert_eq!(node.ledger.stock(&sectors[0]).await, before);
    assert_eq!(node.ledger.rows("reservations").await, 1);
    assert_eq!(node.ledger.rows("reservation_events").await, 1);
    node.assert_consistent("sale").await;

    refuse(&node, "expired").await;
    node.ledger.expire_after(&id, std::time::Duration::ZERO).await;
    tests::wait::until("the sweeper to fail", async || {
        let figures = node.ops.get("/metrics").await.text;
        figures.contains("checkout_holds_stuck_total").then_some(())
    })
    .await;
    assert_eq!(node.ledger.state(&id).await, "held");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_happen_leaves_no_row_in_the_outbox() {
    let node = single(&[]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[1, 10]).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sectors[0]).await;
    ada.reserve_one(&sectors[0]).await.expect(409);
    // Its first sector has a place: the hold is written, and rolled back.
    let basket = [(sectors[1].as_str(), 1), (sectors[0].as_str(), 1)];
    ada.reserve_items(&basket, &new_key()).await.expect(409);
    ada.confirm(&id).await.expect(200);
    ada.cancel(&id).await.expect(409);
    let told: Vec<(String, i32)> =
        sqlx::query_as("SELECT kind, version FROM reservation_events ORDER BY version")
            .fetch_all(node.ledger.pool())
            .await
            .expect("the outbox");
    assert_eq!(told, [("held".to_owned(), 1), ("confirmed".to_owned(), 2)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_between_commit_and_delivery_loses_nothing() {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let ledger = Ledger::open(&database);
    let shop = Shop::that(|_| Reply::Hang).await;
    let env =
        [("STANCHION_SHOP_WEBHOOK_URL", shop.url()), ("STANCHION_SHOP_WEBHOOK_SECRETS", SECRET)];
    let checkout = CheckoutProcess::start(&database, &redis, &env).await;
    let sector = new_key();
    let sale = json!({"sectors": [{"sector_id": sector, "name": "Stalls", "capacity": 10}]});
    checkout.ops.put("/v1/admin/events/sale", &sale).await.expect(201);
    let ada = checkout.buyer_at("sale", "ada", 0);
    let body = json!({"sector_id": sector, "quantity": 1});
    let id = tests::client::send(ada.reserve_request(&body, "key")).await.expect(201).str("id");
    // It has reached the shop, which has not answered; the second has not been sent.
    shop.until_attempts(1).await;
    ada.confirm(&id).await.expect(200);
    checkout.service.kill().await.expect("the checkout is killed");
    let pending: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM reservation_events WHERE due_at IS NOT NULL AND attempts = 0",
    )
    .fetch_one(ledger.pool())
    .await
    .expect("the outbox");
    assert_eq!(pending, 2);

    // The dead process's claim ends by itself; the test does not wait for it.
    shop.from_now_on(|_| Reply::Status(200));
    sqlx::query("UPDATE reservation_events SET due_at = now()")
        .execute(ledger.pool())
        .await
        .expect("its time is over");
    let _checkout = CheckoutProcess::start(&database, &redis, &env).await;
    let taken = shop.until_taken(2).await;
    shop.assert_in_order();
    assert_eq!(taken.iter().map(Attempt::version).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(shop.attempts()[0].id(), taken[0].id(), "the shop knows it again");
    assert_eq!(shop.attempts()[0].text, taken[0].text);
}
