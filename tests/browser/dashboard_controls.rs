//! What operators do on the dashboard.

use serde_json::{Value, json};
use tests::browser::{Browser, Look};
use tests::keys::OPS_TOKEN;
use tests::room::RoomNode;
use tests::{stores, wait};

async fn room(redis_url: &str) -> (RoomNode, Browser) {
    let node = RoomNode::start(redis_url, &["--insecure-cookies"]).await;
    node.create("concert", &json!({})).await.expect(201);
    node.knows("concert").await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}/dashboard?event=concert", node.ops.base())).await;
    browser.enter("#token", OPS_TOKEN).await;
    browser.click("#sign-in button").await;
    browser.sees("#status", "Open").await;
    (node, browser)
}

async fn settings(node: &RoomNode) -> Value {
    node.ops.get("/v1/admin/events/concert").await.expect(200).json()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_before_it_is_confirmed_and_then_it_is_in_the_log() {
    let (node, browser) = room(&stores::redis_url().await).await;
    browser.click("#do-pause").await;
    browser.sees("#confirm-text", "Nobody is called or let in").await;
    browser.is_accessible(Look::desktop()).await;
    browser.click("#confirm-no").await;
    assert_eq!(settings(&node).await["version"], json!(1));

    for (word, status, row) in [
        ("pause", "Paused", "control: open → paused"),
        ("resume", "Open", "control: paused → open"),
        ("drain", "Draining", "control: open → draining"),
        ("open", "Open", "control: draining → open"),
        ("close", "Closed", "control: open → closed"),
    ] {
        browser.click(&format!("#do-{word}")).await;
        browser.click("#confirm-yes").await;
        browser.sees("#status", status).await;
        browser.sees("#audit li:first-child", row).await;
        let code = status.to_lowercase();
        assert_eq!(settings(&node).await["status"], json!(code));
    }
    // Whoever else changes something is in it too, by itself.
    let rate = json!({"admission_rate_per_minute": 77});
    node.ops.patch("/v1/admin/events/concert/rate", &rate).await.expect(200);
    browser.sees("#audit li:first-child", "admission rate per minute: 60000 → 77").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rate_cap_and_message_are_changed_and_a_refusal_is_said() {
    let (node, browser) = room(&stores::redis_url().await).await;
    for (form, field, value, name, expected) in [
        ("set-rate", "#rate", "120", "admission_rate_per_minute", json!(120)),
        ("set-cap", "#cap", "33", "max_active_sessions", json!(33)),
        ("set-message", "#message", "Doors at 7", "message", json!("Doors at 7")),
    ] {
        browser.enter(field, value).await;
        browser.click(&format!("#{form} button")).await;
        browser.sees("#confirm-text", value).await;
        browser.click("#confirm-yes").await;
        wait::until(name, async || (settings(&node).await[name] == expected).then_some(())).await;
    }
    browser.sees("#audit", "message: nothing → Doors at 7").await;
    let status = node.public.get("/v1/events/concert/status").await.expect(200).json();
    assert_eq!(status["message"], "Doors at 7");

    // What the page would let through and the service does not.
    browser.script("document.querySelector('#set-cap').noValidate = true").await;
    browser.enter("#cap", "0").await;
    browser.click("#set-cap button").await;
    browser.click("#confirm-yes").await;
    browser.sees("#confirm-problem", "max_active_sessions must be 1 to").await;
    assert_eq!(settings(&node).await["max_active_sessions"], json!(33));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_red_line_says_what_is_broken_as_long_as_it_is() {
    let mut redis = stores::own_redis(&stores::scratch()).await;
    let (node, browser) = room(&redis.url()).await;
    assert!(!browser.shows("#alarms").await);
    for _ in 0..3 {
        node.join("concert").await.admitted().await;
    }
    let cap = async |cap: u64| {
        let cap = json!({ "max_active_sessions": cap });
        node.ops.patch("/v1/admin/events/concert", &cap).await.expect(200);
    };
    cap(2).await;
    browser.sees("#alarms", "3 sessions are active, and the cap is 2.").await;
    browser.is_accessible(Look::desktop()).await;
    browser.screenshot("dashboard-alarm").await;
    cap(10).await;
    let is_well = async || {
        wait::until("no alarm", async || (!browser.shows("#alarms").await).then_some(())).await;
    };
    is_well().await;

    redis.stop().await.expect("Redis stops");
    browser.sees("#alarms", "Redis does not answer").await;
    redis.restart().await.expect("Redis starts again");
    is_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_page_cannot_steer_a_signed_in_browser() {
    let (node, browser) = room(&stores::redis_url().await).await;
    // The public listener is another origin on the same host: the cookie goes along with what it sends.
    browser.goto(&format!("{}/events/concert", node.public.base())).await;
    let target = format!("{}/v1/admin/events/concert/close", node.ops.base());
    let script = |headers: &str| {
        format!(
            "const done = arguments[arguments.length - 1];
            fetch('{target}', {{method: 'POST', credentials: 'include', mode: '{}', headers: {headers}}})
                .then(() => done('sent'), () => done('refused'));",
            if headers == "{}" { "no-cors" } else { "cors" }
        )
    };
    // The page's own policy would stop it here; another's would not.
    browser.cdp("Page.setBypassCSP", json!({"enabled": true})).await;
    browser.goto(&format!("{}/events/concert", node.public.base())).await;
    assert_eq!(browser.script_async(&script("{}")).await, json!("sent"));
    let with_header = script("{'X-Stanchion-Dashboard': '1'}");
    assert_eq!(browser.script_async(&with_header).await, json!("refused"));
    let room = settings(&node).await;
    assert_eq!((&room["status"], &room["version"]), (&json!("open"), &json!(1)));
}
