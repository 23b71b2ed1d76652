//! Every state of the waiting page: what it says, that it is accessible in both colour schemes, and that it fits on
//! 320 pixels.

use serde_json::{Value, json};
use tests::browser::{Browser, Look};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::page::{Concert, busy, fits, shows};

pub(crate) fn in_minutes(minutes: i64) -> String {
    (OffsetDateTime::now_utc() + Duration::minutes(minutes)).format(&Rfc3339).expect("a time")
}

pub(crate) async fn is_well_made(browser: &Browser, state: &str, headline: &str) {
    shows(browser, state).await;
    browser.sees("h1", headline).await;
    browser.is_accessible(Look::desktop()).await;
    fits(browser, Look::desktop()).await;
}

/// With the page opened by somebody who comes new.
async fn comes_to(concert: &Concert, state: &str, headline: &str) -> Browser {
    let browser = concert.open(Look::desktop()).await;
    is_well_made(&browser, state, headline).await;
    browser
}

#[tokio::test(flavor = "multi_thread")]
async fn before_the_opening_it_counts_down_and_tells_the_rule() {
    let concert = Concert::with(json!({
        "name": "Aurora – Live at the Harbour", "opens_at": in_minutes(12), "queueing_method": "random",
        "brand_color": "#7a1fa2", "message": "Doors open an hour later than printed on the poster.",
    }))
    .await;
    let browser = comes_to(&concert, "pre_queue", "You are in").await;
    browser.sees("#countdown-figure", "11:").await;
    assert!(browser.script("return document.title").await.to_string().contains("11:"));
    browser.sees("#message-text", "an hour later").await;
    browser.click("#rule summary").await;
    browser.sees("#rule-text", "is drawn at random").await;
    let draw = concert.node.public.get("/v1/events/concert/draw").await.expect(200);
    browser.sees("#draw-command", &draw.str("commitment")).await;
    browser.is_accessible(Look::desktop()).await;
    browser.screenshot("page-prequeue").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phones_clock_has_no_part_in_the_countdown() {
    let concert = Concert::with(json!({ "opens_at": in_minutes(30) })).await;
    let browser = Browser::open(Look::phone()).await;
    let two_hours_fast = "const now = Date.now; Date.now = () => now() + 7200000;";
    let script = json!({ "source": two_hours_fast });
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", script).await;
    browser.goto(&concert.url()).await;
    shows(&browser, "pre_queue").await;
    browser.sees("#countdown-figure", "29:").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_joined_yet_is_joined_when_it_can() {
    let settings = json!({ "pre_queue_at": in_minutes(20), "opens_at": in_minutes(30) });
    let concert = Concert::with(settings).await;
    let browser = comes_to(&concert, "scheduled", "Not open yet").await;
    browser.sees("#countdown", "The queue can be joined in").await;
    concert.change(json!({ "pre_queue_at": null })).await;
    shows(&browser, "pre_queue").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_queue_one_sees_how_many_are_ahead_and_how_long_it_takes() {
    let settings = json!({
        "name": "Aurora – Live at the Harbour", "admission_rate_per_minute": 60, "opens_at": in_minutes(-1),
    });
    let concert = Concert::with(settings).await;
    let mut crowd = Vec::new();
    for _ in 0..1_250 {
        crowd.push(concert.person().await);
    }
    // A pace shows only while people come: each of them, as soon as it is his turn.
    tokio::spawn(async move {
        for person in crowd {
            person.admitted().await;
        }
    });
    let browser = comes_to(&concert, "waiting", "You are in the queue").await;
    browser.sees("#ahead-count", "1,").await;
    browser.sees("#wait-text", "minutes").await;
    browser.sees("#wait-text", "about").await;
    let title = browser.script("return document.title").await.to_string();
    assert!(title.contains("1,") && title.contains("Aurora"), "{title}");
    browser.screenshot("page-queue").await;
    browser.show(&Look::phone()).await;
    browser.screenshot("page-queue-phone").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_hold_the_place_is_kept_and_then_it_goes_on() {
    let concert = Concert::with_queue(busy(), 3).await;
    let browser = concert.open(Look::desktop()).await;
    browser.sees("#ahead-count", "3").await;
    browser.sees("#wait-text", "we can’t say yet").await;
    concert.control("pause").await;
    is_well_made(&browser, "paused", "On hold").await;
    browser.screenshot("page-paused").await;
    concert.control("resume").await;
    shows(&browser, "waiting").await;
    browser.sees("#ahead-count", "3").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_called_has_a_countdown_and_who_misses_it_a_way_back() {
    let settings = json!({ "name": "Aurora – Live at the Harbour", "claim_window_seconds": 90 });
    let concert = Concert::with(settings).await;
    let browser = comes_to(&concert, "ready", "It is your turn").await;
    browser.sees("#countdown-figure", "1:").await;
    assert!(browser.script("return document.title").await.to_string().contains("1:"));
    browser.show(&Look::phone().dark()).await;
    browser.screenshot("page-ready-phone-dark").await;
    concert.change(json!({ "claim_window_seconds": 5 })).await;
    browser.show(&Look::desktop()).await;
    is_well_made(&browser, "missed", "You missed your turn").await;
    browser.screenshot("page-missed").await;
    browser.click("#back").await;
    shows(&browser, "ready").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_and_shut_rooms_say_so_and_lead_back_to_the_shop() {
    let settings = json!({ "return_origins": ["https://shop.example"] });
    let concert = Concert::with(settings).await;
    concert.control("close").await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}?return_to=https://shop.example/x", concert.url())).await;
    is_well_made(&browser, "closed", "The waiting room is closed").await;
    let back = browser.find("#shop a").await.attr("href").await.expect("an element");
    assert_eq!(back.as_deref(), Some("https://shop.example/x"));

    concert.control("open").await;
    concert.change(json!({ "queueing_method": "reject" })).await;
    browser.goto(&concert.url()).await;
    is_well_made(&browser, "off", "Nobody is let in").await;
    assert!(!browser.shows("#shop").await, "nobody said where he came from");

    concert.change(json!({ "queueing_method": "fifo" })).await;
    concert.control("drain").await;
    browser.goto(&concert.url()).await;
    is_well_made(&browser, "draining", "The queue is closed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_says_so_and_is_tried_again() {
    let settings = json!({ "max_active_sessions": 1, "max_queue_length": 1 });
    let concert = Concert::with(settings).await;
    concert.person().await.admitted().await;
    let other = concert.person().await;
    let browser = comes_to(&concert, "full", "The queue is full").await;
    other.leave().await.expect(204);
    concert.change(json!({ "max_queue_length": 10 })).await;
    // It would by itself in half a minute.
    browser.goto(&concert.url()).await;
    shows(&browser, "waiting").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn by_invitation_a_code_is_asked_for() {
    let concert = Concert::with(json!({ "access": "invite_only" })).await;
    let codes: Value = json!({"codes": [{"code": "AURORA", "uses": 1, "lane": "normal"}]});
    let path = "/v1/admin/events/concert/access-codes";
    let request = concert.node.ops.request(reqwest::Method::POST, path).json(&codes);
    tests::client::send(request).await.expect(200);
    let browser = comes_to(&concert, "invite", "By invitation only").await;
    browser.find("#access-code").await.send_keys("WRONG").await.expect("typed");
    browser.click("#join").await;
    browser.sees("#notice", "not known").await;
    browser.is_accessible(Look::desktop()).await;
    let field = browser.find("#access-code").await;
    field.clear().await.expect("cleared");
    field.send_keys("AURORA").await.expect("typed");
    browser.click("#join").await;
    shows(&browser, "ready").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sold_out_is_said_to_who_waits_and_to_who_comes() {
    let mut settings = busy();
    settings["return_origins"] = json!(["https://shop.example"]);
    let concert = Concert::with_queue(settings, 2).await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}?return_to=https://shop.example/", concert.url())).await;
    shows(&browser, "waiting").await;
    concert.sells_out().await;
    is_well_made(&browser, "sold_out", "Sold out").await;
    browser.screenshot("page-sold-out").await;
    browser.driver.delete_all_cookies().await.expect("forgotten");
    comes_to(&concert, "sold_out", "Sold out").await;
}
