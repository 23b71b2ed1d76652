//! The panel with the provider's switches, and who may use what is behind it.

use reqwest::Method;
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use tests::browser::{Browser, Look};
use tests::client::{Answer, Client, send, try_send};
use tests::demo::Demo;
use tests::wait;

async fn switches(demo: &Demo) -> Value {
    demo.sandbox.client.get("/v1/switches").await.expect(200).json()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_panel_flips_the_providers_own_switches_and_shows_what_it_did() {
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::phone()).await;
    demo.enters(&browser).await;
    browser.click("#panel summary").await;
    // Exactly those that the provider has, but for where its webhooks go and what signs them.
    browser.find("#switches input").await;
    let shown = browser
        .script("return [...document.querySelectorAll('#switches input')].map((one) => one.name).sort()")
        .await;
    let mut known: Vec<String> =
        switches(&demo).await.as_object().expect("switches").keys().cloned().collect();
    known.retain(|name| name != "webhook_url");
    known.sort();
    assert_eq!(shown, json!(known));
    browser.is_accessible(Look::phone()).await;
    browser.screenshot("shop-provider").await;

    browser.click("#presets button:first-child").await;
    wait::until("the next charge to be declined", async || {
        (switches(&demo).await["declines"] == 1).then_some(())
    })
    .await;
    browser.click("#switches input[name=webhooks]").await;
    wait::until("webhooks to be off", async || {
        (switches(&demo).await["webhooks"] == false).then_some(())
    })
    .await;
    browser.click("#sector-list button").await;
    browser.click("#pay-now").await;
    browser.sees("#state", "The payment failed").await;
    browser.sees("#ledger", "charge €45.00: declined (declined)").await;
    browser.click("#pay-now").await;
    browser.sees("#ticket-items", "1 × Standing").await;
    browser.sees("#ledger li:first-child", "done").await;
    browser.click("#presets button:last-child").await;
    wait::until("all to be as at first", async || {
        let now = switches(&demo).await;
        (now["webhooks"] == true && now["declines"] == 0).then_some(())
    })
    .await;
}

async fn ask(shop: &Client, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = shop.request(method, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(request.json(&json!({ "what": "checkout", "declines": 1 }))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_shops_own_pages_get_at_it() {
    let demo = Demo::start(&[], &json!({})).await;
    let own = demo.shop.url().to_owned();
    let shop = Client::new(own.trim_start_matches("http://"));
    let guard = shop.get("/config.json").await.expect(200).str("guard");
    assert!(guard.len() >= 32, "{guard}");
    let calls = [
        (Method::PATCH, "/provider/switches"),
        (Method::GET, "/provider/ledger"),
        (Method::POST, "/provider/complete"),
        (Method::POST, "/lab/events"),
        (Method::GET, "/lab/events/check-0123456789ab"),
        (Method::DELETE, "/lab/events/check-0123456789ab"),
        (Method::POST, "/lab/restart"),
        (Method::POST, "/load"),
        (Method::DELETE, "/load"),
    ];
    for (method, path) in calls {
        for headers in [
            vec![],
            vec![("x-shop-guard", "0123456789abcdef0123456789abcdef")],
            vec![("x-shop-guard", guard.as_str()), ("origin", "http://evil.example")],
            vec![("x-shop-guard", guard.as_str()), ("origin", "null")],
        ] {
            let answer = ask(&shop, method.clone(), path, &headers).await;
            assert_eq!((answer.status, answer.code().as_str()), (403, "forbidden"), "{path}");
        }
    }
    assert_eq!(switches(&demo).await["declines"], 0);
    // A foreign name that points here does not become the pages' origin, and reads no guard.
    let elsewhere = reqwest::Client::builder().no_proxy().redirect(Policy::none()).build();
    let elsewhere = elsewhere.expect("a plain client is built");
    let foreign = elsewhere.get(format!("{own}/config.json")).header("host", "evil.example");
    let answer = try_send(foreign).await.expect("an answer").expect(307);
    assert_eq!(
        (answer.header("location"), answer.text.as_str()),
        (&*format!("{own}/config.json"), "")
    );
    let foreign =
        elsewhere.patch(format!("{own}/provider/switches")).header("host", "evil.example");
    assert_eq!(send(foreign.header("x-shop-guard", &guard)).await.status, 403);
    // Events that were not made here are neither shown nor closed.
    let ours = [("x-shop-guard", guard.as_str()), ("origin", own.as_str())];
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(ask(&shop, method, "/lab/events/demo", &ours).await.status, 404);
    }
    // Where webhooks go is not the page's business.
    let request = shop.request(Method::PATCH, "/provider/switches").header("x-shop-guard", &guard);
    let elsewhere = json!({ "webhook_url": "http://evil.example" });
    assert_eq!(send(request.json(&elsewhere)).await.status, 400);
    assert_eq!(ask(&shop, Method::PATCH, "/provider/switches", &ours).await.status, 502);
}
