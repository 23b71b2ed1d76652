//! What is left to sell, and how busy the checkout is, decide how people are called.

use serde_json::json;
use shared::redis::Redis;
use shared::signals::{self, Stock};
use tests::room::RoomNode;
use tests::sale::{CheckoutNode, new_key};
use tests::{stores, wait};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{Sale, admitted, is_kept_out, looks, status};

#[tokio::test(flavor = "multi_thread")]
async fn sold_out_while_ready() {
    let sale = Sale::with_cap(10, 1).await;
    let queue = sale.people(2).await;
    let first = sale.buyer(&queue[0]).await;
    // He was called before the last place was taken.
    queue[1].called().await;
    let id = first.hold(&sale.sector).await;
    first.confirm(&id).await.expect(200);
    wait::until("the room to be sold out", async || {
        (sale.status().await.str("status") == "sold_out").then_some(())
    })
    .await;
    queue[1].claim().await.expect_problem(409, "sold_out");
    assert_eq!(queue[1].status().await, "sold_out");
    sale.room.public.post("/v1/events/sale/queue").await.expect_problem(409, "sold_out");
    let status = sale.status().await;
    assert_eq!(status.str("reason"), "sold_out");
    assert!(status.json()["estimated_wait_seconds"].is_null(), "{status:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_all_places_in_baskets_nobody_is_called_until_one_is_given_up() {
    let sale = Sale::with_cap(10, 2).await;
    let queue = sale.people(2).await;
    let (first, id) = sale.holder(&queue[0]).await;
    sale.holder(&queue[1]).await;
    sale.reason_becomes("all_in_baskets").await;
    let waits = sale.people(1).await.remove(0);
    looks(&sale.room).await;
    let status = sale.status().await;
    assert_eq!((status.str("status"), status.number("waiting")), ("open".to_owned(), 1));
    assert_eq!(status.str("reason"), "all_in_baskets");
    assert_eq!(waits.status().await, "waiting");
    is_kept_out(&waits).await;
    first.cancel(&id).await.expect(200);
    admitted(&waits).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_that_has_started_again_says_at_once_what_is_left() {
    let redis = stores::redis_url().await;
    let database = stores::database_url().await;
    let room = RoomNode::start(&redis, &[]).await;
    let checkout = CheckoutNode::start(&database, &redis, &[]).await;
    checkout.on_sale("sale", 10).await;
    room.create("sale", &json!({})).await.expect(201);
    drop(checkout);
    // What a checkout said before it crashed is not so any more, and nobody is sent who would ask.
    let stale = Stock { left: 0, held: 1, queue_delay_ms: 0 };
    publish(&Redis::connect(&redis).await.expect("a URL"), stale).await;
    let waits = room.join("sale").await;
    let _again = CheckoutNode::start(&database, &redis, &[]).await;
    admitted(&waits).await;
}

async fn publish(redis: &Redis, stock: Stock) {
    let event = "sale".parse().expect("a slug");
    signals::publish(redis, &event, Uuid::nil(), stock).await.expect("Redis answers");
}

/// Publishes a wait and lets the next look adjust the rate, instead of waiting for a second to pass.
async fn adjust(redis: &Redis, url: &str, queue_delay_ms: u64) {
    publish(redis, Stock { left: 100, held: 0, queue_delay_ms }).await;
    let room = ["HSET", "stanchion:{sale}:room", "rate_adjusted_ms", "0"];
    stores::redis_command(url, &room).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_checkout_slows_the_room_down_and_it_recovers() {
    const RATE: u64 = 600;
    let url = stores::redis_url().await;
    let (node, redis) = (RoomNode::start(&url, &[]).await, Redis::connect(&url).await);
    let redis = redis.expect("a URL");
    node.create("sale", &json!({"admission_rate_per_minute": RATE})).await.expect(201);
    node.knows("sale").await;
    let until_rate = async |queue_delay_ms, wanted| {
        let mut seen = Vec::new();
        wait::until("the rate to change", async || {
            adjust(&redis, &url, queue_delay_ms).await;
            let status = status(&node.public).await;
            let rate = status.number("effective_rate_per_minute");
            assert!((RATE / 10..=RATE).contains(&rate), "{rate} a minute");
            assert_eq!(status.number("admission_rate_per_minute"), RATE);
            let busy = if rate < RATE { "checkout_busy" } else { "configured_rate" };
            assert_eq!(status.str("reason"), busy);
            seen.push(rate);
            (rate == wanted).then_some(())
        })
        .await;
        looks(&node).await;
        seen.dedup();
        seen
    };
    let falling = until_rate(1_000, RATE / 10).await;
    assert!(falling.is_sorted_by(|before, after| before > after), "{falling:?}");
    let rising = until_rate(0, RATE).await;
    assert!(rising.is_sorted_by(|before, after| before < after), "{rising:?}");
    // Down in a few steps, up again in many.
    assert!(falling.len() < rising.len(), "{falling:?} {rising:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_in_line_at_a_checkout_are_what_makes_it_busy() {
    let sale = Sale::with_cap(100, 1_000).await;
    let person = sale.people(1).await.remove(0);
    let buyer = sale.buyer(&person).await;
    // Somebody has the sector at hand, so that whoever writes to it waits.
    let pool = sale.one.ledger.pool().clone();
    let mut connection = pool.acquire().await.expect("a connection");
    for statement in ["BEGIN", "SELECT * FROM sector_stock FOR UPDATE"] {
        sqlx::query(statement).execute(&mut *connection).await.expect("the lock is had");
    }
    let enough = CancellationToken::new();
    let line: Vec<_> = (0..8)
        .map(|_| {
            let (buyer, sector, enough) = (buyer.clone(), sale.sector.clone(), enough.clone());
            tokio::spawn(async move {
                while !enough.is_cancelled() {
                    buyer.reserve(&sector, 1, &new_key()).await;
                }
            })
        })
        .collect();
    sale.reason_becomes("checkout_busy").await;
    sqlx::query("ROLLBACK").execute(&mut *connection).await.expect("the lock is given up");
    enough.cancel();
    for reserving in line {
        reserving.await.expect("answers of whatever kind");
    }
    wait::until("the line to be gone", async || {
        let metrics = sale.room.ops.get("/v1/admin/events/sale/metrics").await.expect(200);
        (metrics.number("checkout_queue_delay_ms") == 0).then_some(())
    })
    .await;
}
