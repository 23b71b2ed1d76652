//! The self-check: green where the services keep what they promise, red where they do not.

use std::time::Duration;

use serde_json::json;
use tests::browser::{Browser, Look};
use tests::demo::Demo;
use tokio::time::{Instant, sleep};

/// The limit per person, as a deployment has it.
const LIMITED: [&str; 4] = ["--user-rate-per-second", "5", "--user-rate-burst", "10"];
/// All of them take about a minute on a quiet machine.
const WITHIN: Duration = Duration::from_secs(300);

/// Waits until a check, or all of them, have come to an end; gives what the page says.
async fn ended(browser: &Browser, script: &str) -> String {
    let deadline = Instant::now() + WITHIN;
    loop {
        if let Some(text) = browser.script(script).await.as_str() {
            return text.to_owned();
        }
        assert!(Instant::now() < deadline, "the checks did not come to an end");
        sleep(Duration::from_millis(200)).await;
    }
}

async fn all(browser: &Browser) -> String {
    browser.click("#run-all").await;
    ended(
        browser,
        "const summary = document.getElementById('summary');
         return document.getElementById('run-all').disabled ? null : summary.textContent",
    )
    .await
}

async fn one(browser: &Browser, check: &str) -> String {
    browser.click(&format!("[data-check={check}] button")).await;
    let script = format!(
        "const check = document.querySelector('[data-check={check}]');
         const state = check.dataset.state;
         return state === 'running' ? null : state + ': ' + check.querySelector('.lines').textContent"
    );
    ended(browser, &script).await
}

/// What every check saw, for the message of a test that fails.
async fn findings(browser: &Browser) -> String {
    let script = "return [...document.querySelectorAll('.check')].map((one) =>
        `${one.dataset.check}: ${one.dataset.state} ${[...one.querySelectorAll('.bad')].map((bad) => bad.textContent)}`).join('\\n')";
    browser.script(script).await.as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_check_passes_on_services_that_keep_their_promises() {
    let demo = Demo::start(&LIMITED, &json!({})).await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}/self-check", demo.shop.url())).await;
    browser.sees("#summary", "17 checks").await;
    browser.is_accessible(Look::desktop()).await;
    let summary = all(&browser).await;
    assert_eq!(summary, "17 of 17 passed.", "{}", findings(&browser).await);
    browser.script("scrollTo(0, 0)").await;
    browser.screenshot("self-check").await;
    browser
        .script("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        .await;
    browser.is_accessible(Look::desktop()).await;
    browser.show(&Look::phone().dark()).await;
    browser.fits().await;
    browser.screenshot("self-check-phone-dark").await;
    // What was prepared is closed, and the provider behaves again.
    let rooms = demo.room.ops.get("/v1/admin/events").await.expect(200).json();
    let rooms = rooms["events"].as_array().cloned().expect("a list");
    assert!(rooms.len() > 17, "{rooms:?}");
    for room in rooms.iter().filter_map(|room| room.as_str()).filter(|room| *room != "demo") {
        let room = demo.room.ops.get(&format!("/v1/admin/events/{room}")).await.expect(200);
        assert_eq!(room.str("status"), "closed", "{room:?}");
    }
    let switches = demo.sandbox.client.get("/v1/switches").await.expect(200).json();
    assert_eq!((&switches["processing"], &switches["webhooks"]), (&json!(0), &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_fails_where_a_promise_is_not_kept() {
    // The harness lifts the limit per person.
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}/self-check", demo.shop.url())).await;
    let limit = one(&browser, "rate_limit").await;
    assert!(limit.starts_with("failed:") && limit.contains("✗Of 40 at once 0"), "{limit}");
    browser.sees("#summary", "1 of 1 failed: Limit per person.").await;
    browser.is_accessible(Look::desktop()).await;
    browser.screenshot("self-check-failed").await;
    // And one whose services are gone.
    drop(demo.checkout);
    let gone = one(&browser, "double_click").await;
    assert!(gone.starts_with("failed:"), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_a_kill() {
    let (mut demo, mut restarter) = Demo::with_processes().await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}/self-check", demo.shop.url())).await;
    browser.sees("#summary", "19 checks").await;
    let mut killed = Vec::new();
    let checks = async {
        for check in ["restart_checkout", "restart_redis"] {
            let found = one(&browser, check).await;
            assert!(found.starts_with("passed:") && found.contains("Killed with -9"), "{found}");
            killed.push(check);
        }
    };
    tokio::select! {
        () = checks => {}
        () = demo.restart_on_demand(&mut restarter) => unreachable!("the shop is there"),
    }
    assert_eq!(killed.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_shows_its_figures_while_it_runs_and_can_be_stopped() {
    let demo = Demo::start(&LIMITED, &json!({})).await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}/self-check", demo.shop.url())).await;
    browser.script("document.querySelector('[name=people]').value = 20").await;
    browser.script("document.querySelector('[name=seconds]').value = 2").await;
    browser.click("#load-start").await;
    browser.sees("#load-state", "Done: the checkout’s counters and rows agree").await;
    let figures = load(&browser).await;
    let reserved = figures["reservations"].as_u64().expect("a count");
    assert!(reserved > 0, "{figures}");
    assert_eq!(browser.text("#load-count").await.replace(',', ""), reserved.to_string());
    let at = |name: &str| figures[name].as_f64().expect("milliseconds");
    assert!(0.0 < at("p50_ms") && at("p50_ms") <= at("p95_ms") && at("p95_ms") <= at("p99_ms"));
    assert!(at("p99_ms") <= at("max_ms"), "{figures}");
    browser.is_accessible(Look::desktop()).await;
    browser.script("document.getElementById('load').scrollIntoView()").await;
    browser.screenshot("load").await;

    browser.script("document.querySelector('[name=seconds]').value = 30").await;
    browser.click("#load-start").await;
    browser.sees("#load-state", "Running").await;
    browser.click("#load-stop").await;
    browser.sees("#load-state", "Stopped: the checkout’s counters and rows agree").await;
    // Out of bounds it does not begin.
    browser.script("document.getElementById('load-form').noValidate = true").await;
    browser.script("document.querySelector('[name=seconds]').value = 3000").await;
    browser.click("#load-start").await;
    browser.sees("#load-state", "seconds must be 1 to 30").await;
}

async fn load(browser: &Browser) -> serde_json::Value {
    let script = "const done = arguments[arguments.length - 1];
        const config = fetch('/config.json').then((answer) => answer.json());
        config.then(({ guard }) => fetch('/load', { headers: { 'x-shop-guard': guard } }))
            .then((answer) => answer.json()).then(({ figures }) => done(figures));";
    let found = browser.driver.execute_async(script, vec![]).await.expect("the figures");
    found.json().clone()
}
