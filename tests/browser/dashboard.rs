//! The operators' dashboard.

use serde_json::{Value, json};
use tests::browser::{Browser, Look};
use tests::keys::{OPS_TOKEN, READ_TOKEN};
use tests::room::RoomNode;
use tests::sale::{self, CheckoutNode};
use tests::{stores, wait};

const FLAGS: [&str; 3] = ["--insecure-cookies", "--ops-read-token", READ_TOKEN];

/// A checkout, and a waiting room that asks it, with an event at both.
async fn stand(redis_url: &str, settings: &Value) -> (RoomNode, CheckoutNode, String) {
    let checkout = sale::single(&["--ops-read-token", READ_TOKEN]).await;
    let sector = checkout.on_sale("concert", 40).await;
    let url = checkout.ops.base().to_owned();
    let asks = ["--checkout-ops-urls", &url, "--checkout-ops-token", READ_TOKEN];
    let node = RoomNode::start(redis_url, &[&FLAGS[..], &asks].concat()).await;
    node.create("concert", settings).await.expect(201);
    node.knows("concert").await;
    (node, checkout, sector)
}

async fn signed_in(node: &RoomNode, look: Look, token: &str) -> Browser {
    let browser = Browser::open(look).await;
    browser.goto(&format!("{}/dashboard?event=concert", node.ops.base())).await;
    browser.enter("#token", token).await;
    browser.click("#sign-in button").await;
    browser.sees("#name", "A concert").await;
    browser
}

async fn metrics(node: &RoomNode) -> Value {
    node.ops.get("/v1/admin/events/concert/metrics").await.expect(200).json()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_has_a_token_sees_anything_and_who_signs_out_sees_nothing_more() {
    let (node, _checkout, _) = stand(&stores::redis_url().await, &json!({})).await;
    let browser = Browser::open(Look::phone()).await;
    browser.goto(&format!("{}/dashboard", node.ops.base())).await;
    browser.enter("#token", "not-the-token-at-all").await;
    browser.click("#sign-in button").await;
    browser.sees("#sign-in-problem", "not the ops token").await;
    browser.is_accessible(Look::phone()).await;
    browser.screenshot("dashboard-sign-in").await;

    browser.enter("#token", OPS_TOKEN).await;
    browser.click("#sign-in button").await;
    browser.sees("#list-rows", "concert").await;
    assert!(!browser.script("return document.cookie").await.to_string().contains("stanchion"));
    browser.is_accessible(Look::phone()).await;
    browser.click("#go-concert").await;
    browser.sees("#name", "A concert").await;

    browser.click("#sign-out").await;
    browser.find("#token").await;
    browser.goto(&format!("{}/dashboard?event=concert", node.ops.base())).await;
    browser.find("#token").await;
    assert!(!browser.shows("#event").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_figures_are_those_of_the_api_while_people_come_and_buy() {
    let settings = json!({"max_active_sessions": 6, "admission_rate_per_minute": 600});
    let (node, checkout, sector) = stand(&stores::redis_url().await, &settings).await;
    let browser = signed_in(&node, Look::desktop(), READ_TOKEN).await;
    browser.sees("#sale", "40").await;
    let mut people = Vec::new();
    for _ in 0..14 {
        people.push(node.join("concert").await);
    }
    for person in &people[..6] {
        person.admitted().await;
    }
    for buyer in checkout.crowd("concert", 5) {
        buyer.reserve_one(&sector).await.expect(201);
    }
    let text = async |id: &str| browser.text(&format!("#figure-{id} dd")).await;
    let shown = wait::until("page and API to agree", async || {
        let now = metrics(&node).await;
        let number = |value: &Value| value.as_u64().map_or("–".to_owned(), |n| n.to_string());
        let called = now["on_their_way"].as_u64()? + now["standing_at_gate"].as_u64()?;
        let sector = &now["sale"]["sectors"][0];
        let told = [
            ("waiting", number(&now["waiting"])),
            ("called", called.to_string()),
            ("active", format!("{} of 6", number(&now["active_sessions"]))),
            ("admitted", number(&now["last_minute"]["admitted"])),
        ];
        for (id, expected) in &told {
            (text(id).await == *expected).then_some(())?;
        }
        let row = browser.text("#sale tbody tr").await;
        let places = ["available", "held", "confirmed", "capacity"].map(|of| number(&sector[of]));
        row.ends_with(&places.join(" ")).then_some(())?;
        (now["active_sessions"] == json!(6) && sector["held"] == json!(5)).then_some(told)
    })
    .await;
    assert_eq!(shown[2].1, "6 of 6");
    browser.sees("#reason", "the cap is reached").await;
    browser.sees("#sale", "created 5").await;

    // The last hour is the node's and not the page's.
    wait::until("the hour to have a few moments", async || {
        let path = "/v1/admin/events/concert/metrics/history";
        let history = node.ops.get(path).await.expect(200).json();
        (history["at_ms"].as_array()?.len() > 1).then_some(())
    })
    .await;
    browser.driver.refresh().await.expect("the page loads again");
    browser.sees("#charts figure:nth-child(3) ul", "Active 6").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_all_of_it_and_can_change_nothing() {
    let (node, _checkout, _) = stand(&stores::redis_url().await, &json!({})).await;
    let browser = signed_in(&node, Look::desktop(), READ_TOKEN).await;
    browser.sees("#role", "read only").await;
    browser.sees("#audit", "created the room").await;
    browser.sees("#status", "Open").await;
    let count = "return document.querySelectorAll('#controls :is(button, input, textarea):not(:disabled)').length";
    assert_eq!(browser.script(count).await, json!(0));
    browser.sees("#read-only", "signed in to read").await;
    // Nor when the page is made to try.
    let pause = "const done = arguments[arguments.length - 1];
        fetch('/v1/admin/events/concert/pause', {method: 'POST', headers: {'X-Stanchion-Dashboard': '1'}})
            .then((answer) => done(answer.status));";
    assert_eq!(browser.script_async(pause).await, json!(403));
    assert_eq!(metrics(&node).await["status"], "open");
}
