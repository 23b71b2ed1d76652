//! What operators watch: a room's last minute and hour, the sale behind it, and what is wrong. In a browser:
//! `tests/browser/dashboard.rs`.

use serde_json::{Value, json};
use tests::keys::READ_TOKEN;
use tests::room::{RoomNode, single};
use tests::sale::{self, CheckoutNode};
use tests::{stores, wait};

async fn metrics(node: &RoomNode) -> Value {
    node.ops.get("/v1/admin/events/sale/metrics").await.expect(200).json()
}

fn codes(metrics: &Value) -> Vec<&str> {
    let alarms = metrics["alarms"].as_array().expect("a list of alarms");
    alarms.iter().filter_map(|alarm| alarm["code"].as_str()).collect()
}

/// A room that asks these checkouts, on an event `sale`.
async fn room_before(urls: &[&str]) -> RoomNode {
    let urls = urls.join(",");
    let flags = ["--checkout-ops-urls", &urls, "--checkout-ops-token", READ_TOKEN];
    let node = single(&flags).await;
    node.create("sale", &json!({})).await.expect(201);
    node.knows("sale").await;
    node
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_tells_an_events_figures() {
    let flags = ["--user-rate-per-second", "1", "--user-rate-burst", "4"];
    let node = sale::single(&flags).await;
    let sector = node.on_sale("sale", 3).await;
    let ada = node.buyer("sale", "ada");
    let held = ada.reserve(&sector, 2, "key").await.expect(201).str("id");
    ada.reserve(&sector, 2, "key").await.expect(200);
    ada.reserve(&sector, 4, "too-many").await.expect(409);
    ada.confirm(&held).await.expect(200);
    node.buyer("sale", "bob").reserve_one(&sector).await.expect(201);
    wait::until("a request too many", async || {
        (ada.reserve_one(&sector).await.status == 429).then_some(())
    })
    .await;

    let path = "/v1/admin/events/sale/metrics";
    let told = wait::until("what was read to be of now", async || {
        let told = node.ops.get(path).await.expect(200).json();
        (told["sectors"][0]["available"] == json!(0)).then_some(told)
    })
    .await;
    let place = &told["sectors"][0];
    assert_eq!((&place["held"], &place["confirmed"]), (&json!(1), &json!(2)));
    let reserve = &told["reservations"]["reserve"];
    assert_eq!((&reserve["created"], &reserve["replayed"]), (&json!(2), &json!(1)));
    assert!(reserve["rate_limited"].as_u64() >= Some(1), "{told}");
    assert_eq!(told["reservations"]["confirm"], json!({"done": 1}));
    assert_eq!(told["holds_overdue"], json!({"count": 0, "oldest_seconds": 0}));
    assert_eq!(told["payments_unsettled"], json!([]));
    node.ops.get("/v1/admin/events/none/metrics").await.expect_problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_tells_how_the_sale_goes_at_all_its_checkouts() {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let flags = ["--ops-read-token", READ_TOKEN];
    let (one, two) = tokio::join!(
        CheckoutNode::start(&database, &redis, &flags),
        CheckoutNode::start(&database, &redis, &flags),
    );
    let sector = one.on_sale("sale", 10).await;
    // One of them at an address with a path, as behind a proxy: it is not there.
    let nobody = format!("{}/nowhere/", two.ops.base());
    let node = room_before(&[one.ops.base(), two.ops.base(), &nobody]).await;
    wait::until("the checkouts to be asked", async || {
        (metrics(&node).await["sale"]["state"] == "told").then_some(())
    })
    .await;
    for buyer in one.crowd("sale", 4).into_iter().chain(two.crowd("sale", 7).split_off(4)) {
        buyer.reserve_one(&sector).await.expect(201);
    }
    let told = wait::until("the sale's figures", async || {
        let told = metrics(&node).await["sale"].clone();
        let made = &told["reserve_outcomes"]["created"];
        (*made == json!(7) && told["sectors"][0]["held"] == json!(7)).then_some(told)
    })
    .await;
    assert_eq!((&told["checkouts"], &told["answering"]), (&json!(3), &json!(3)), "{told}");
    assert_eq!(told["sectors"][0]["available"], json!(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_that_is_not_there_is_told_from_one_that_does_not_answer() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}", closed.local_addr().expect("bound"));
    drop(closed);
    let (without, silent) = (single(&[]).await, room_before(&[&address]).await);
    without.create("sale", &json!({})).await.expect(201);
    without.knows("sale").await;
    let told = metrics(&without).await;
    assert_eq!(told["sale"]["state"], "not_configured");
    assert_eq!(told["sale"]["queue_delay_ms"], Value::Null);
    assert!(codes(&told).is_empty(), "{told}");
    let told = wait::until("the silence to be noticed", async || {
        let told = metrics(&silent).await;
        (told["sale"]["state"] == "silent").then_some(told)
    })
    .await;
    assert_eq!(codes(&told), ["checkout_silent"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_minute_and_the_last_hour_are_told_and_a_broken_cap_is_an_alarm() {
    let node = single(&[]).await;
    node.create("sale", &json!({"max_active_sessions": 5})).await.expect(201);
    node.knows("sale").await;
    wait::until("a first look", async || {
        let history =
            node.ops.get("/v1/admin/events/sale/metrics/history").await.expect(200).json();
        (!history["at_ms"].as_array()?.is_empty()).then_some(())
    })
    .await;
    for _ in 0..3 {
        node.join("sale").await.admitted().await;
    }
    let told = wait::until("three to be seen", async || {
        let told = metrics(&node).await;
        (told["last_minute"]["admitted"] == json!(3)).then_some(told)
    })
    .await;
    assert_eq!(told["last_minute"]["joined"], json!(3));
    assert!(told["last_called"]["waited_seconds"].is_u64(), "{told}");
    assert!(codes(&told).is_empty(), "{told}");
    let history = wait::until("a later look", async || {
        let history =
            node.ops.get("/v1/admin/events/sale/metrics/history").await.expect(200).json();
        let active = history["series"]["active_sessions"].as_array()?.last().cloned();
        (active == Some(json!(3.0))).then_some(history)
    })
    .await;
    assert_eq!(history["interval_seconds"], json!(5));
    assert!(history["series"]["available"].as_array().expect("a series").contains(&Value::Null));

    let cap = json!({"max_active_sessions": 2});
    node.ops.patch("/v1/admin/events/sale", &cap).await.expect(200);
    assert_eq!(codes(&metrics(&node).await), ["over_cap"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_is_an_alarm_as_long_as_it_is() {
    let mut redis = stores::own_redis(&stores::scratch()).await;
    let node = RoomNode::start(&redis.url(), &[]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.knows("sale").await;
    redis.stop().await.expect("Redis stops");
    let becomes = async |expected: &[&str]| {
        wait::until("the alarms", async || {
            (codes(&metrics(&node).await) == expected).then_some(())
        })
        .await;
    };
    becomes(&["store_stale"]).await;
    redis.restart().await.expect("Redis starts again");
    becomes(&[]).await;
}
