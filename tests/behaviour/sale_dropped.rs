//! Requests that are dropped at every point at which they can be: where they wait.

use axum::extract::Request;
use axum::http::Method;
use serde_json::json;
use tests::keys::SERVICE_TOKEN;
use tests::ledger::Ledger;
use tests::proxy::Proxy;
use tests::sale::{CheckoutNode, Inside};
use tests::stores;

/// More than any request has.
const PAUSES_MAX: u32 = 60;
/// Each point, again: what Postgres is at by then differs.
const REPEATS: usize = 2;
/// How much longer Postgres takes to answer, so that whoever asks it does wait.
const DELAY_MS: u64 = 4;

/// So few connections that one that is not clean is soon somebody else's. Nothing tidies up by itself.
const FLAGS: [&str; 4] = ["--database-connections", "4", "--sweep-interval-ms", "3600000"];

/// Drops a request of this kind at its first wait, another one at its second, and so on, until one is
/// answered. How many were dropped.
async fn at_every_wait(inside: &Inside, ledger: &Ledger, make: impl AsyncFn() -> Request) -> u32 {
    for pauses in 1..PAUSES_MAX {
        let mut answered = 0;
        for _ in 0..REPEATS {
            answered += usize::from(inside.drop_at(pauses, make().await).await);
            // Before the next one, which might end what this one has left.
            ledger.assert_no_open_transaction().await;
        }
        if answered == REPEATS {
            return pauses - 1;
        }
    }
    panic!("not answered after {PAUSES_MAX} waits");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_dropped_anywhere_leaves_its_connection_clean_and_every_place_counted() {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let node = CheckoutNode::start(&database, &redis, &FLAGS).await;
    let proxy = Proxy::to(&database).await;
    let inside = Inside::start(&proxy.url(&database), &redis, &FLAGS).await;
    proxy.delay_answers(DELAY_MS);
    let settings = json!({"max_per_user": 1_000});
    let sectors = node.on_sale_with("sale", &settings, &[1_000, 1_000]).await;
    let buyer = node.buyer("sale", "ada");
    let bearer = buyer.client.bearer().expect("a token").to_owned();
    let (one, two) = (&sectors[0], &sectors[1]);

    let reservation = json!({"sector_id": one, "quantity": 1});
    let basket =
        json!({"items": [{"sector_id": two, "quantity": 1}, {"sector_id": one, "quantity": 1}]});
    let on_hold = async |method: Method, action: &str, bearer: &str| {
        let path = format!("/v1/reservations/{}{action}", buyer.hold(one).await);
        inside.request(method, &path, bearer, None)
    };
    let places = "/v1/reservations";
    let post = |body| inside.request(Method::POST, places, &bearer, Some(body));
    let dropped = [
        at_every_wait(&inside, &node.ledger, async || post(&reservation)).await,
        at_every_wait(&inside, &node.ledger, async || post(&basket)).await,
        at_every_wait(&inside, &node.ledger, async || on_hold(Method::GET, "", &bearer).await)
            .await,
        at_every_wait(&inside, &node.ledger, async || on_hold(Method::DELETE, "", &bearer).await)
            .await,
        at_every_wait(&inside, &node.ledger, async || {
            on_hold(Method::POST, "/extend", &bearer).await
        })
        .await,
        at_every_wait(&inside, &node.ledger, async || {
            on_hold(Method::POST, "/confirm", SERVICE_TOKEN).await
        })
        .await,
    ];
    assert!(dropped.iter().all(|&dropped| dropped > 0), "never dropped: {dropped:?}");
    node.assert_consistent("sale").await;
    for _ in 0..10 {
        buyer.hold(two).await;
        let answer = inside.answer(post(&reservation)).await;
        assert_eq!(answer.status().as_u16(), 201);
    }
    node.assert_consistent("sale").await;
}
