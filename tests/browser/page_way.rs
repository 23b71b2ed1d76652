//! A person's way through the waiting page: to the checkout, with two tabs, hidden, by the keyboard, without
//! JavaScript, without cookies, and over a connection that is lost.

use serde_json::json;
use tests::browser::{Browser, Look};
use tests::{greeter, wait};

use crate::page::{Concert, busy, goes_to, shows};

#[tokio::test(flavor = "multi_thread")]
async fn who_is_called_goes_on_to_the_checkout_with_the_token_in_the_fragment() {
    let shop = greeter::start().await;
    let checkout = format!("{}/checkout/", shop.base());
    let settings = json!({ "checkout_url": checkout, "return_origins": [shop.base()] });
    let concert = Concert::with(settings).await;
    let browser = Browser::open(Look::phone()).await;
    browser.goto(&format!("{}?return_to={}/", concert.url(), shop.base())).await;
    browser.click("#enter").await;
    let url = goes_to(&browser, &checkout).await;
    let (address, fragment) = url.split_once('#').expect("a fragment");
    assert_eq!(address, checkout);
    assert!(fragment.starts_with("token=ey") && fragment.contains("&return_to=http"), "{fragment}");
    // Back again, he is let in already, and finds the very same way.
    browser.driver.back().await.expect("back");
    shows(&browser, "admitted").await;
    browser.is_accessible(Look::phone()).await;
    browser.click("#enter").await;
    assert_eq!(goes_to(&browser, &checkout).await, url);
}

#[tokio::test(flavor = "multi_thread")]
async fn return_to_leads_nowhere_that_was_not_allowed() {
    let shop = greeter::start().await;
    let checkout = format!("{}/checkout/", shop.base());
    let concert = Concert::with(json!({ "checkout_url": checkout })).await;
    let browser = Browser::open(Look::phone()).await;
    browser.goto(&format!("{}?return_to=https://evil.example/", concert.url())).await;
    browser.click("#enter").await;
    assert!(!goes_to(&browser, &checkout).await.contains("return_to"));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_room_off_one_goes_straight_on() {
    let shop = greeter::start().await;
    let checkout = format!("{}/checkout/", shop.base());
    let settings = json!({ "checkout_url": checkout, "queueing_method": "passthrough" });
    let concert = Concert::with(settings).await;
    let browser = concert.open(Look::phone()).await;
    assert!(goes_to(&browser, &checkout).await.contains("#token="));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_are_one_person() {
    let concert = Concert::with_queue(busy(), 2).await;
    let browser = concert.open(Look::desktop()).await;
    browser.sees("#number-text", "4").await;
    let second = browser.driver.new_tab().await.expect("a tab");
    browser.driver.switch_to_window(second).await.expect("the tab");
    browser.goto(&concert.url()).await;
    browser.sees("#number-text", "4").await;
    assert_eq!(concert.last_number().await, 4);
    // Both poll for one place, some of it too early, and neither complains.
    concert.change(json!({ "message": "Hello, both of you." })).await;
    for tab in browser.driver.windows().await.expect("tabs") {
        browser.driver.switch_to_window(tab).await.expect("the tab");
        browser.sees("#message-text", "both of you").await;
        assert!(!browser.shows("#connection").await);
    }
}

/// A clock that the test moves on and a visibility that it sets, as in a tab that the browser has put to the
/// background; requests are real. What is not tried here is Chromium's own throttling.
const FAKED: &str = "
(() => {
  let [now, id, hidden] = [0, 1, false];
  const timers = new Map();
  const realFetch = window.fetch;
  window.sent = [];
  window.open_requests = 0;
  window.fetch = async (url, options = {}) => {
    window.sent.push(`${Math.round(now / 1000)} ${options.method || 'GET'} ${url}`);
    window.open_requests += 1;
    try { return await realFetch(url, options); } finally { window.open_requests -= 1; }
  };
  performance.now = () => now;
  const later = (every) => (work, ms = 0) => (timers.set(id, { at: now + ms, work, every: every && ms }), id++);
  [window.setTimeout, window.setInterval] = [later(false), later(true)];
  window.clearTimeout = window.clearInterval = (which) => timers.delete(which);
  window.advance = (ms) => {
    now += ms;
    for (const [which, timer] of [...timers]) {
      if (timer.at > now) continue;
      if (timer.every) timer.at = now + timer.every;
      else timers.delete(which);
      timer.work();
    }
  };
  Object.defineProperty(document, 'visibilityState', { get: () => (hidden ? 'hidden' : 'visible') });
  Object.defineProperty(document, 'hidden', { get: () => hidden });
  window.hide = (wish) => { hidden = wish; document.dispatchEvent(new Event('visibilitychange')); };
})();";

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_is_hidden_for_three_minutes_keeps_its_place() {
    let concert = Concert::with_queue(busy(), 2).await;
    let browser = Browser::open(Look::phone()).await;
    let script = json!({ "source": FAKED });
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", script).await;
    browser.goto(&concert.url()).await;
    browser.sees("#number-text", "4").await;
    browser.script("hide(true)").await;
    // Hidden, a tab's timers run once a minute.
    for _ in 0..3 {
        quiet(&browser).await;
        browser.script("advance(60000)").await;
    }
    quiet(&browser).await;
    let sent = browser.script("return sent").await.to_string();
    for second in [0, 60, 120, 180] {
        let beat = format!("{second} POST /v1/events/concert/queue/heartbeat");
        assert!(sent.contains(&beat), "{beat} in {sent}");
    }
    browser.script("sent.length = 0; hide(false)").await;
    quiet(&browser).await;
    let sent = browser.script("return sent").await.to_string();
    assert!(sent.contains("180 POST /v1/events/concert/queue/heartbeat"), "at once: {sent}");
    shows(&browser, "waiting").await;
    browser.sees("#number-text", "4").await;
}

async fn quiet(browser: &Browser) {
    wait::until("all requests to be answered", async || {
        (browser.script("return open_requests").await == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_said_and_costs_no_place() {
    let concert = Concert::with_queue(busy(), 2).await;
    let browser = concert.open(Look::phone()).await;
    browser.sees("#number-text", "4").await;
    let network = |offline: bool| {
        let none = json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        browser.cdp("Network.emulateNetworkConditions", none)
    };
    browser.cdp("Network.enable", json!({})).await;
    network(true).await;
    browser.sees("#connection", "Your place is safe").await;
    browser.is_accessible(Look::phone()).await;
    network(false).await;
    wait::until("the connection to be back", async || {
        (!browser.shows("#connection").await).then_some(())
    })
    .await;
    browser.sees("#number-text", "4").await;
    assert_eq!(concert.last_number().await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_cookies_blocked_it_says_so_and_the_tab_keeps_the_place() {
    let shop = greeter::start().await;
    let checkout = format!("{}/checkout/", shop.base());
    let mut settings = busy();
    settings["checkout_url"] = checkout.as_str().into();
    let concert = Concert::with_queue(settings, 2).await;
    let browser = concert.open(Look::phone().without_cookies()).await;
    browser.sees("#cookies", "blocks cookies").await;
    browser.sees("#number-text", "4").await;
    browser.is_accessible(Look::phone().without_cookies()).await;
    concert.change(json!({ "max_active_sessions": 100 })).await;
    browser.click("#enter").await;
    assert!(goes_to(&browser, &checkout).await.contains("#token="));
    assert_eq!(concert.last_number().await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_is_enough() {
    let concert = Concert::with_queue(busy(), 2).await;
    let browser = concert.open(Look::desktop()).await;
    shows(&browser, "waiting").await;
    reach(&browser, "leave").await;
    browser.press("\u{e007}").await;
    reach(&browser, "leave-form").await;
    browser.press("\u{e007}").await;
    shows(&browser, "left").await;
    browser.is_accessible(Look::desktop()).await;
    let focused = "return document.activeElement.id";
    wait::until("the headline to have the focus", async || {
        (browser.script(focused).await == "headline").then_some(())
    })
    .await;
    reach(&browser, "form").await;
    browser.press("\u{e007}").await;
    shows(&browser, "waiting").await;
    browser.sees("#number-text", "5").await;
}

/// By the tabulator, to something inside the element of that id.
async fn reach(browser: &Browser, id: &str) {
    let inside = format!("return !!document.activeElement.closest('#{id}')");
    for _ in 0..30 {
        browser.press("\u{e004}").await;
        if browser.script(&inside).await == true {
            return;
        }
    }
    panic!("no way to {id} by the keyboard");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_javascript_one_joins_waits_and_gets_in() {
    let shop = greeter::start().await;
    let checkout = format!("{}/checkout/", shop.base());
    let mut settings = busy();
    settings["checkout_url"] = checkout.as_str().into();
    let concert = Concert::with_queue(settings, 2).await;
    let look = Look::phone().without_javascript();
    let browser = concert.open(look.clone()).await;
    shows(&browser, "welcome").await;
    assert_eq!(concert.last_number().await, 3, "to look is not to join");
    browser.screenshot("page-without-javascript").await;
    browser.click("#join").await;
    browser.sees("#number-text", "4").await;
    browser.sees("#ahead-count", "2").await;
    browser.sees("#plain", "Check now").await;
    // It looks again by itself, as the Refresh header tells it to.
    concert.change(json!({ "max_active_sessions": 100 })).await;
    shows(&browser, "ready").await;
    browser.click("#enter").await;
    assert!(goes_to(&browser, &checkout).await.contains("#token="));
}
