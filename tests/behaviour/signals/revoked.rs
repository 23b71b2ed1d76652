//! An ended session reserves nothing more.

use std::time::{Duration, Instant};

use serde_json::json;
use shared::admission::AdmissionClaims;
use tests::sale::{CheckoutNode, claims, sign};
use tests::{stores, wait};
use uuid::Uuid;

use super::Sale;

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_session_reserves_nothing_more_at_any_instance() {
    let sale = Sale::with_cap(10, 1_000).await;
    let person = sale.people(1).await.remove(0);
    let buyer = sale.buyer(&person).await;
    let reserved = buyer.reserve(&sale.sector, 1, "the-first").await.expect(201);
    let id = reserved.str("id");
    buyer.confirm(&id).await.expect(200);
    for node in [&sale.one, &sale.two] {
        let buyer = buyer.at(node);
        let refused = wait::until("the token to be refused", async || {
            let answer = buyer.reserve_one(&sale.sector).await;
            (answer.status != 201).then_some(answer)
        })
        .await;
        refused.expect_problem(403, "not_admitted");
        assert!(refused.str("detail").contains("admission is over"), "{refused:?}");
        // What was decided stays decided, and what was bought stays his.
        let again = buyer.reserve(&sale.sector, 1, "the-first").await.expect(200);
        assert_eq!(again.text, reserved.text);
        assert_eq!(buyer.get(&id).await.expect(200).str("state"), "confirmed");
        buyer.cancel(&id).await.expect_problem(409, "invalid_transition");
        let owner = node.with_token(reserved.str("reservation_token"));
        owner.get(&id).await.expect(200);
    }
    // Others are not refused with him.
    let other = sale.people(1).await.remove(0);
    sale.buyer(&other).await.at(&sale.two).hold(&sale.sector).await;
    sale.one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_stays_refused_without_redis_and_nobody_else_is() {
    let redis = stores::own_redis(&stores::scratch()).await;
    let sale = Sale::start(&redis.url(), &json!({}), 1_000).await;
    let queue = sale.people(2).await;
    let (done, id) = sale.holder(&queue[0]).await;
    let other = sale.buyer(&queue[1]).await;
    done.cancel(&id).await.expect(200);
    for node in [&sale.one, &sale.two] {
        wait::until("the token to be refused", async || {
            (done.at(node).reserve_one(&sale.sector).await.status == 403).then_some(())
        })
        .await;
    }
    redis.stop().await.expect("Redis stops");
    // Through more than one attempt at asking it.
    let enough = Instant::now() + Duration::from_millis(2_500);
    while Instant::now() < enough {
        for node in [&sale.one, &sale.two] {
            done.at(node).reserve_one(&sale.sector).await.expect_problem(403, "not_admitted");
        }
    }
    for node in [&sale.one, &sale.two] {
        other.at(node).hold(&sale.sector).await;
    }
    // Nor does anybody wait for what cannot be told now.
    let id = other.hold(&sale.sector).await;
    other.cancel(&id).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_ended_sessions_each_is_refused_until_its_token_is_dead() {
    const MANY: u64 = 2_500;
    let redis = stores::redis_url().await;
    let node = CheckoutNode::start(&stores::database_url().await, &redis, &[]).await;
    let sector =
        node.on_sale_with("sale", &json!({"max_per_user": 1_000}), &[1_000]).await.remove(0);
    let claims = claims("sale", "ada");
    let now_ms = claims.iat * 1_000;
    let ended = |n: u64, jti: Uuid, dead_at_ms: u64| {
        [(now_ms + n).to_string(), format!("{jti}:{dead_at_ms}")]
    };
    let mut words = vec!["ZADD".to_owned(), "stanchion:{sale}:revoked".to_owned()];
    words.extend((0..MANY).flat_map(|n| ended(n, Uuid::new_v4(), now_ms + 60_000)));
    let dead = AdmissionClaims { jti: Uuid::new_v4(), ..claims.clone() };
    words.extend(ended(MANY, dead.jti, now_ms - 1));
    words.extend(ended(MANY + 1, claims.jti, now_ms + 60_000));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    stores::redis_command(&redis, &words).await;
    wait::until("the last one to be refused", async || {
        (node.with_token(sign(&claims)).reserve_one(&sector).await.status == 403).then_some(())
    })
    .await;
    node.with_token(sign(&dead)).hold(&sector).await;
}
