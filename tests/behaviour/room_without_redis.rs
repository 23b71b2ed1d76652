//! The waiting room while Redis is away.

use serde_json::json;
use tests::room::RoomNode;
use tests::{stores, wait};

#[tokio::test(flavor = "multi_thread")]
async fn without_redis_joins_wait_the_status_says_stale_and_nobody_loses_his_place() {
    let mut redis = stores::own_redis(&stores::scratch()).await;
    let node = RoomNode::start(&redis.url(), &[]).await;
    let settings = json!({"opens_at": "2100-01-01T00:00:00Z"});
    node.create("sale", &settings).await.expect(201);
    let person = node.join("sale").await;

    redis.stop().await.expect("Redis stops");
    let refused = node.public.post("/v1/events/sale/queue").await;
    refused.expect_problem(503, "unavailable");
    assert_eq!(refused.header("retry-after"), "1");
    person.claim().await.expect_problem(503, "unavailable");
    assert_eq!(person.place().await.expect(200).number("number"), 1);
    wait::until("the status to say that it is stale", async || {
        let status = node.public.get("/v1/events/sale/status").await.expect(200);
        (status.json()["stale"] == json!(true)).then_some(())
    })
    .await;
    assert_eq!(node.public.get("/readyz").await.status, 503);
    assert_eq!(node.public.get("/healthz").await.status, 200);

    redis.restart().await.expect("Redis starts again");
    let second = wait::until("a join after the restart", async || {
        let answer = node.public.post("/v1/events/sale/queue").await;
        (answer.status == 201).then(|| answer.number("number"))
    })
    .await;
    assert_eq!(second, 2);
    assert_eq!(person.rejoin().await.expect(200).number("number"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_may_forget_people_is_not_ready() {
    let redis =
        stores::own_redis_with(&stores::scratch(), &["--maxmemory-policy", "allkeys-lru"]).await;
    let node = RoomNode::start_unready(&redis.url(), &[]).await;
    let answer = wait::until("the node to say why it is not ready", async || {
        let answer = node.public.get("/readyz").await.expect(503);
        answer.text.contains("noeviction").then_some(answer)
    })
    .await;
    assert_eq!(answer.str("status"), "not_ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_opens_on_a_store_error_lets_people_through_without_a_place() {
    let mut redis = stores::own_redis(&stores::scratch()).await;
    let node = RoomNode::start(&redis.url(), &[]).await;
    node.create("open", &json!({"on_store_error": "open"})).await.expect(201);
    node.create("shut", &json!({"on_store_error": "closed"})).await.expect(201);
    let before = node.join("open").await;
    redis.stop().await.expect("Redis stops");
    wait::until("the node to notice", async || {
        let status = node.public.get("/v1/events/open/status").await.expect(200);
        (status.json()["stale"] == json!(true)).then_some(())
    })
    .await;
    node.public.post("/v1/events/shut/queue").await.expect_problem(503, "unavailable");
    let person = node.join("open").await;
    assert_eq!(person.number, 0);
    assert_eq!(person.status().await, "ready");
    let token = person.claim().await.expect(201).str("admission_token");
    assert!(!token.is_empty());

    redis.restart().await.expect("Redis starts again");
    wait::until("the node to see Redis again", async || {
        let status = node.public.get("/v1/events/open/status").await.expect(200);
        (status.json()["stale"] == json!(false)).then_some(())
    })
    .await;
    // From here on there are places again: his ticket is none.
    person.claim().await.expect_problem(410, "missed");
    assert_eq!(person.rejoin().await.expect(201).number("number"), 2);
    assert_eq!(before.rejoin().await.expect(200).number("number"), 1);
}
