//! Whoever is done makes room for the next, and nobody else does.

use std::time::Duration;

use serde_json::json;
use shared::redis::Redis;
use shared::signals::{self, Session};
use tests::room::RoomNode;
use tests::{stores, wait};
use uuid::Uuid;

use super::{Sale, admitted, is_kept_out, looks};

#[tokio::test(flavor = "multi_thread")]
async fn who_has_bought_makes_room_for_the_next_at_once() {
    let sale = Sale::with_cap(1, 10).await;
    let queue = sale.people(2).await;
    let (first, id) = sale.holder(&queue[0]).await;
    is_kept_out(&queue[1]).await;
    first.confirm(&id).await.expect(200);
    admitted(&queue[1]).await;
    queue[0].claim().await.expect_problem(410, "missed");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_let_go_makes_room_for_the_next_at_once() {
    let sale = Sale::with_cap(1, 10).await;
    let queue = sale.people(2).await;
    let (first, id) = sale.holder(&queue[0]).await;
    is_kept_out(&queue[1]).await;
    first.cancel(&id).await.expect(200);
    admitted(&queue[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_holds_have_expired_make_room_for_the_next_at_once() {
    let sale = Sale::with_cap(2, 10).await;
    let queue = sale.people(4).await;
    for person in &queue[..2] {
        let (_, id) = sale.holder(person).await;
        sale.one.ledger.expire_after(&id, Duration::from_secs(1)).await;
    }
    is_kept_out(&queue[2]).await;
    admitted(&queue[2]).await;
    admitted(&queue[3]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_something_else_with_the_same_admission_stays() {
    let sale = Sale::with_cap(2, 10).await;
    let queue = sale.people(4).await;
    let (stays, given_up) = sale.holder(&queue[0]).await;
    let kept = stays.hold(&sale.sector).await;
    let (goes, id) = sale.holder(&queue[1]).await;
    stays.cancel(&given_up).await.expect(200);
    // They are told of in this order.
    goes.cancel(&id).await.expect(200);
    admitted(&queue[2]).await;
    looks(&sale.room).await;
    is_kept_out(&queue[3]).await;
    let last = stays.hold(&sale.sector).await;

    stays.confirm(&kept).await.expect(200);
    stays.confirm(&last).await.expect(200);
    admitted(&queue[3]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exits_admit_exactly_as_many_as_left() {
    let sale = Sale::with_cap(5, 50).await;
    let queue = sale.people(12).await;
    let mut holders = Vec::new();
    for person in &queue[..5] {
        holders.push(sale.holder(person).await);
    }
    for (buyer, id) in &holders[..3] {
        buyer.confirm(id).await.expect(200);
    }
    for person in &queue[5..8] {
        admitted(person).await;
    }
    looks(&sale.room).await;
    for person in &queue[8..] {
        is_kept_out(person).await;
    }
    // The same exits told of again let nobody in.
    for (buyer, id) in &holders[..3] {
        buyer.confirm(id).await.expect(200);
    }
    let (buyer, id) = &holders[3];
    buyer.cancel(id).await.expect(200);
    admitted(&queue[8]).await;
    looks(&sale.room).await;
    for person in &queue[9..] {
        is_kept_out(person).await;
    }
    let room = sale.room.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!(room.number("tokens_total"), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ending_that_could_not_be_told_is_told_when_redis_is_back() {
    let mut redis = stores::own_redis_with(&stores::scratch(), &["--appendonly", "yes"]).await;
    let room = json!({"max_active_sessions": 1});
    let sale = Sale::start(&redis.url(), &room, 10).await;
    let queue = sale.people(2).await;
    let (first, id) = sale.holder(&queue[0]).await;
    redis.stop().await.expect("Redis stops");
    first.confirm(&id).await.expect(200);
    // Long enough that it was tried and could not be told.
    wait::until("Redis to be missed", async || {
        (sale.status().await.json()["stale"] == true).then_some(())
    })
    .await;
    redis.restart().await.expect("Redis starts again");
    admitted(&queue[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_admission_under_the_same_number_is_another_session() {
    let redis = stores::redis_url().await;
    let node = RoomNode::start(&redis, &[]).await;
    node.create("sale", &json!({"max_active_sessions": 1})).await.expect(201);
    let (first, second) = (node.join("sale").await, node.join("sale").await);
    admitted(&first).await;
    let (redis, event) = (Redis::connect(&redis).await.expect("a URL"), "sale".parse());
    let other = Session { jti: Uuid::new_v4(), number: first.number };
    let ended = signals::end_sessions(&redis, &event.expect("a slug"), &[other]).await;
    assert_eq!(ended.expect("Redis answers"), []);
    looks(&node).await;
    is_kept_out(&second).await;
    first.claim().await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_does_not_outlive_its_lease() {
    let room = json!({"max_active_sessions": 1, "session_duration_seconds": 1});
    let sale = Sale::start(&stores::redis_url().await, &room, 10).await;
    let queue = sale.people(2).await;
    let (first, _) = sale.holder(&queue[0]).await;
    first.hold(&sale.sector).await;
    admitted(&queue[1]).await;
    // The place is somebody else's now.
    first.reserve_one(&sale.sector).await.expect_problem(401, "invalid_token");
    first.at(&sale.two).reserve_one(&sale.sector).await.expect_problem(401, "invalid_token");
}
