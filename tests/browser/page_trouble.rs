//! The waiting page where something is in the way, or nothing is.

use serde_json::json;
use tests::browser::{Browser, Look};
use tests::keys::shop_user_keys;
use tests::room::RoomNode;
use tests::{greeter, stores};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::page::{Concert, busy, goes_to, shows};
use crate::page_states::is_well_made;

async fn opened(node: &RoomNode) -> Browser {
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}/events/concert", node.public.base())).await;
    browser
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_store_the_page_says_so_and_goes_on_when_it_is_back() {
    let mut redis = stores::own_redis(&stores::scratch()).await;
    let flags = ["--insecure-cookies", "--join-limit-per-minute", "0"];
    let node = RoomNode::start(&redis.url(), &flags).await;
    node.create("concert", &busy()).await.expect(201);
    node.knows("concert").await;
    node.join("concert").await.admitted().await;
    let waiting = opened(&node).await;
    shows(&waiting, "waiting").await;

    redis.stop().await.expect("Redis stops");
    waiting.sees("#connection", "Your place is safe").await;
    shows(&waiting, "waiting").await;
    waiting.is_accessible(Look::desktop()).await;
    let new = opened(&node).await;
    is_well_made(&new, "unavailable", "One moment, please").await;

    redis.restart().await.expect("Redis starts");
    shows(&new, "waiting").await;
    tests::wait::until("the page to say no more of it", async || {
        (!waiting.shows("#connection").await).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_from_one_network_are_told_and_tried_again() {
    let flags = ["--insecure-cookies", "--join-limit-per-minute", "1"];
    let node = RoomNode::start(&stores::redis_url().await, &flags).await;
    node.create("concert", &busy()).await.expect(201);
    node.knows("concert").await;
    node.join("concert").await;
    is_well_made(&opened(&node).await, "busy", "One moment, please").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_for_the_shops_own_users_asks_to_sign_in_there() {
    let (_, users) = shop_user_keys();
    let flags = ["--insecure-cookies", "--identity-jwks-file", &users];
    let node = RoomNode::start(&stores::redis_url().await, &flags).await;
    node.create("concert", &json!({ "identity": "jwt" })).await.expect(201);
    node.knows("concert").await;
    is_well_made(&opened(&node).await, "sign_in", "Please sign in first").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_room_is_off_one_goes_straight_on_and_can_come_back() {
    let shop = greeter::start().await;
    let settings = json!({ "queueing_method": "passthrough", "checkout_url": shop.base() });
    let concert = Concert::with(settings).await;
    let browser = concert.open(Look::desktop()).await;
    let url = goes_to(&browser, shop.base()).await;
    assert!(url.contains("#token="), "{url}");
    browser.driver.back().await.expect("a page before");
    is_well_made(&browser, "admitted", "You are let in").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_opening_the_page_has_the_command_that_draws_again() {
    let soon = OffsetDateTime::now_utc() + Duration::seconds(15);
    let opens_at = soon.format(&Rfc3339).expect("a time");
    let concert = Concert::with(json!({ "opens_at": opens_at, "queueing_method": "random" })).await;
    let browser = concert.open(Look::desktop()).await;
    shows(&browser, "pre_queue").await;
    shows(&browser, "ready").await;
    browser.click("#rule summary").await;
    browser.sees("#draw-command", "waiting-room verify-draw --seed ").await;
    browser.sees("#draw-command", "--number 1").await;
    browser.is_accessible(Look::desktop()).await;
}
