//! The sale goes on without Redis.

use std::path::Path;
use std::time::Instant;

use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode, all_at_once, count};
use tests::stores;

/// Thirty people, half of them at each instance, buy one place each.
async fn thirty_buy(nodes: [&CheckoutNode; 2], sector: &str, name: &str) {
    let buyers: Vec<Buyer> =
        (0..30).map(|n| nodes[n % 2].buyer("sale", &format!("{name}-{n}"))).collect();
    let answers = all_at_once(&buyers, |buyer| {
        let sector = sector.to_owned();
        async move { buyer.reserve_one(&sector).await }
    })
    .await;
    assert_eq!(count(&answers, 201), 30, "{answers:?}");
}

async fn two_instances(redis_url: &str) -> (CheckoutNode, CheckoutNode) {
    let database = stores::database_url().await;
    tokio::join!(
        CheckoutNode::start(&database, redis_url, &[]),
        CheckoutNode::start(&database, redis_url, &[]),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_stops_and_comes_back_and_no_buyer_notices() {
    let mut redis = stores::own_redis(&stores::scratch()).await;
    let (one, two) = two_instances(&redis.url()).await;
    let sector = one.on_sale("sale", 120).await;
    let nodes = [&one, &two];
    thirty_buy(nodes, &sector, "before").await;
    let (stopped, ()) = tokio::join!(redis.stop(), thirty_buy(nodes, &sector, "meanwhile"));
    stopped.expect("Redis stops");
    thirty_buy(nodes, &sector, "without").await;
    assert_eq!(one.public.get("/readyz").await.status, 200);
    redis.restart().await.expect("Redis starts again");
    thirty_buy(nodes, &sector, "after").await;
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(120, 0, 120, 0));
    one.buyer("sale", "late").reserve_one(&sector).await.expect_problem(409, "sold_out");
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_hangs_slows_nobody_down_for_long() {
    let redis = stores::own_redis(&stores::scratch()).await;
    let (one, two) = two_instances(&redis.url()).await;
    let sector = one.on_sale("sale", 60).await;
    thirty_buy([&one, &two], &sector, "before").await;
    redis.pause().expect("Redis hangs");
    let started = Instant::now();
    thirty_buy([&one, &two], &sector, "meanwhile").await;
    let seconds = started.elapsed().as_secs_f64();
    redis.resume().expect("Redis goes on");
    assert!(seconds < 5.0, "{seconds} s for thirty reservations");
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_starts_and_sells_without_redis() {
    let directory = stores::scratch();
    let redis = stores::own_redis(Path::new(&directory)).await;
    redis.stop().await.expect("Redis stops");
    let (one, two) = two_instances(&redis.url()).await;
    let sector = one.on_sale("sale", 30).await;
    thirty_buy([&one, &two], &sector, "somebody").await;
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(30, 0, 30, 0));
    one.assert_consistent("sale").await;
}
