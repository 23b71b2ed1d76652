//! What the shop says in each state, and that nothing is done twice.

use serde_json::json;
use tests::browser::{Browser, Look};
use tests::demo::{Demo, EVENT};
use tests::sale::{claims, sign};
use tests::wait;

const HOLD: &str = "#sector-list .sector:first-child button";
const HOLD_LAST: &str = "#sector-list .sector:last-child button";

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_card_is_said_and_another_one_pays() {
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::phone()).await;
    demo.enters(&browser).await;
    browser.click(HOLD).await;
    browser.click("input[value=pm_declined]").await;
    browser.click("#pay-now").await;
    browser.sees("#state", "The payment failed").await;
    browser.sees("#state-text", "declined. Nothing was charged. Your places are still held").await;
    browser.is_accessible(Look::phone()).await;
    browser.screenshot("shop-declined").await;
    browser.click("input[value=pm_good]").await;
    browser.click("#pay-now").await;
    browser.sees("#ticket-items", "1 × Standing").await;
    assert_eq!(demo.sandbox.done("charge", "succeeded").await.len(), 1);
    assert_eq!(demo.sandbox.done("charge", "declined").await.len(), 1);
    demo.checkout.assert_consistent(EVENT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_keeps_the_hold_and_the_clock_is_the_servers() {
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::phone()).await;
    // A phone whose clock is an hour behind.
    let behind = "{ const now = Date.now; Date.now = () => now() - 3600000; }";
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", json!({ "source": behind })).await;
    demo.enters(&browser).await;
    browser.click(HOLD).await;
    browser.sees("#state", "Held for you").await;
    for _ in 0..2 {
        let left = browser.text("#countdown").await;
        assert!(left.starts_with("4:") || left == "5:00", "{left}");
        let session = browser.text("#session-left").await;
        assert!(session.starts_with("9:") || session == "10:00", "{session}");
        browser.driver.refresh().await.expect("it loads again");
        browser.sees("#state", "Held for you").await;
    }
    let ends = "return JSON.parse(sessionStorage.getItem('reservation')).expires_at";
    let before = browser.script(ends).await;
    browser.click("#extend").await;
    wait::until("the extension", async || {
        let now = browser.script(ends).await;
        (now.as_str() > before.as_str()).then_some(())
    })
    .await;
    assert!(!browser.shows("#extend").await, "once");
    browser.click("#cancel").await;
    browser.sees("#state", "Let go").await;
    browser.click("#again").await;
    browser.sees("#sector-list", "100 of 100 left").await;
    demo.checkout.assert_consistent(EVENT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_ends_is_said_and_the_places_come_back() {
    let demo = Demo::start(&[], &json!({ "hold_ttl_seconds": 3 })).await;
    let browser = Browser::open(Look::phone()).await;
    demo.enters(&browser).await;
    browser.click(HOLD).await;
    browser.sees("#state", "The time has run out").await;
    browser.sees("#state-text", "nothing was taken").await;
    assert!(!browser.shows("#pay").await);
    browser.is_accessible(Look::phone()).await;
    // The only thing that was held has ended, and with it the turn.
    browser.click("#again").await;
    wait::until("the places to be back", async || {
        let all = demo.checkout.sectors(EVENT).await;
        all.iter().all(|one| one["available"] == one["capacity"]).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn money_that_comes_late_is_told_truly() {
    let demo = Demo::start(&[], &json!({ "hold_ttl_seconds": 6 })).await;
    let browser = Browser::open(Look::phone()).await;
    for (taken, end) in [(false, "Paid late, and saved"), (true, "Your money went back")] {
        demo.sandbox.switch(json!({ "processing": 1 })).await;
        demo.enters(&browser).await;
        let seat = if taken { HOLD_LAST } else { HOLD };
        browser.click(seat).await;
        browser.click("#pay-now").await;
        browser.sees("#state", "The time has run out while you paid").await;
        if taken {
            let sector = demo.checkout.sectors(EVENT).await;
            let front = sector.iter().find(|one| one["name"] == "Front row").expect("on sale");
            let sector = front["sector_id"].as_str().expect("an id").to_owned();
            let rival = demo.checkout.buyer(EVENT, "rival");
            let held = wait::until("the place to be free", async || {
                let answer = rival.reserve_one(&sector).await;
                (answer.status == 201).then(|| answer.str("id"))
            })
            .await;
            rival.confirm(&held).await.expect(200);
        }
        // By the panel, as a person would.
        browser.script("document.getElementById('panel').open = true").await;
        browser.click("#ledger [data-state=processing] button").await;
        browser.sees("#state", end).await;
        browser.is_accessible(Look::phone()).await;
        assert_eq!(browser.shows("#ticket").await, !taken);
        browser.screenshot(if taken { "shop-refunded" } else { "shop-late" }).await;
        browser.script("sessionStorage.clear()").await;
    }
    demo.checkout.assert_consistent(EVENT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_does_not_answer_is_no_failure() {
    let flags = ["--decision-wait-ms", "500"];
    let demo = Demo::start(&flags, &json!({})).await;
    let browser = Browser::open(Look::phone()).await;
    let switches =
        json!({ "timeout_after_success": 1, "webhooks": false, "look_up_failures": 1000 });
    demo.sandbox.switch(switches).await;
    demo.enters(&browser).await;
    browser.click(HOLD).await;
    browser.click("#pay-now").await;
    browser.sees("#state", "Payment under way").await;
    browser.sees("#state-text", "nothing is charged twice").await;
    browser.screenshot("shop-unknown").await;
    demo.sandbox.switch(json!({ "look_up_failures": 0 })).await;
    browser.sees("#ticket-items", "1 × Standing").await;
    assert_eq!(demo.sandbox.done("charge", "succeeded").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sold_out_is_said_and_what_comes_back_is_shown() {
    let sectors = json!([{ "name": "Front row", "capacity": 1, "price": 19_900 }]);
    let demo = Demo::start(&[], &json!({ "sectors": sectors })).await;
    let sector = demo.checkout.sectors(EVENT).await.remove(0);
    let sector = sector["sector_id"].as_str().expect("an id").to_owned();
    let rival = demo.checkout.buyer(EVENT, "rival");
    let browser = Browser::open(Look::phone()).await;
    demo.enters(&browser).await;
    let held = rival.hold(&sector).await;
    browser.sees("#sector-list", "Sold out").await;
    browser.find("#sold-out").await;
    assert!(!browser.shows(HOLD).await);
    browser.is_accessible(Look::phone()).await;
    rival.cancel(&held).await.expect(200);
    browser.sees("#sector-list", "1 of 1 left").await;
    browser.click(HOLD).await;
    browser.sees("#state", "Held for you").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_turn_is_over_is_shown_the_way_back() {
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::phone()).await;
    // Without a token at all.
    browser.goto(demo.shop.url()).await;
    browser.sees("#outside", "Tickets are sold to those whose turn it is").await;
    browser.is_accessible(Look::phone()).await;
    // A token that the checkout does not take any more, though its time is not over.
    let mut stranger = claims(EVENT, "stranger");
    stranger.iss = "somebody else".to_owned();
    browser.goto(&format!("{}/#token={}", demo.shop.url(), sign(&stranger))).await;
    browser.click(HOLD).await;
    browser.sees("#outside", "Your turn is over").await;
    // One whose time is over.
    browser.script("sessionStorage.clear()").await;
    let mut late = claims(EVENT, "late");
    (late.iat, late.nbf, late.exp) = (late.iat - 700, late.nbf - 700, late.iat - 100);
    browser.goto(&format!("{}/?again#token={}", demo.shop.url(), sign(&late))).await;
    browser.sees("#outside", "Your turn is over").await;
    browser.click("#outside .waiting-room").await;
    browser.sees("h1", "").await;
    let back = format!("{}/events/{EVENT}", demo.room.public.base());
    assert_eq!(browser.url().await, back);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_by_keyboard_alone() {
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::desktop()).await;
    demo.enters(&browser).await;
    // Into the first sector's choice of how many, and on to its button.
    for (key, reached) in [("\u{e004}", "SELECT"), ("\u{e004}", "BUTTON")] {
        browser.press(key).await;
        assert_eq!(browser.script("return document.activeElement.tagName").await, reached);
    }
    browser.press("\u{e007}").await;
    browser.sees("#state", "Held for you").await;
    // The focus has moved to what is new.
    assert_eq!(browser.script("return document.activeElement.id").await, "state");
    browser.press("\u{e004}").await;
    browser.press("\u{e004}").await;
    assert_eq!(browser.script("return document.activeElement.id").await, "pay-now");
    browser.press("\u{e007}").await;
    browser.sees("#ticket-items", "1 × Standing").await;
    assert_eq!(browser.script("return document.activeElement.id").await, "state");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_sticks_out_of_the_narrowest_screen() {
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::narrow()).await;
    demo.enters(&browser).await;
    browser.script("document.getElementById('panel').open = true").await;
    browser.find("#switches input").await;
    browser.fits().await;
    browser.screenshot("shop-narrow").await;
    browser.click(HOLD).await;
    browser.sees("#state", "Held for you").await;
    browser.fits().await;
    browser.click("#pay-now").await;
    browser.sees("#ticket-items", "1 × Standing").await;
    browser.fits().await;
    browser.goto(&format!("{}/self-check", demo.shop.url())).await;
    browser.find("#checks .check").await;
    browser.fits().await;
    browser.is_accessible(Look::narrow()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_asked_for_again_with_the_same_key() {
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::phone()).await;
    // The checkout does what it is asked to, and its first answers are lost: two to the hold, two to the payment.
    let lossy = "{ const real = fetch; window.keys = []; const lost = {};
        window.fetch = async (url, options) => {
            const answer = await real(url, options);
            if (options?.method !== 'POST' || !String(url).includes('/v1/')) return answer;
            window.keys.push(options.headers['idempotency-key']);
            lost[url] = (lost[url] ?? 0) + 1;
            if (lost[url] <= 2) throw new TypeError('Failed to fetch');
            return answer;
        }; }";
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", json!({ "source": lossy })).await;
    demo.enters(&browser).await;
    browser.click(HOLD).await;
    browser.sees("#message", "Asking again, with the same key").await;
    browser.sees("#state", "Held for you").await;
    browser.click("#pay-now").await;
    browser.sees("#ticket-items", "1 × Standing").await;
    let keys = browser.script("return window.keys").await;
    let keys: Vec<&str> =
        keys.as_array().expect("keys").iter().filter_map(|key| key.as_str()).collect();
    assert_eq!(keys.len(), 6, "{keys:?}");
    assert!(keys[..3].iter().all(|key| *key == keys[0]), "{keys:?}");
    assert!(keys[3..].iter().all(|key| *key == keys[3]) && keys[0] != keys[3], "{keys:?}");
    demo.checkout.assert_consistent(EVENT).await;
    let stock = &demo.checkout.reconcile(EVENT).await["sectors"];
    let sum = |name: &str| {
        stock.as_array().expect("sectors").iter().filter_map(|one| one[name].as_i64()).sum::<i64>()
    };
    assert_eq!((sum("held"), sum("confirmed")), (0, 1), "{stock}");
    assert_eq!(demo.sandbox.done("charge", "succeeded").await.len(), 1);
}
