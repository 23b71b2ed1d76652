//! How the dashboard looks: on every screen, in both colour schemes, with an hour behind it.

use serde_json::json;
use tests::browser::{Browser, Look};
use tests::keys::{OPS_TOKEN, READ_TOKEN};
use tests::room::RoomNode;
use tests::{sale, stores, wait};

#[tokio::test(flavor = "multi_thread")]
async fn it_is_accessible_and_fits_every_screen() {
    let checkout = sale::single(&["--ops-read-token", READ_TOKEN]).await;
    let sectors = checkout.on_sale_with("concert", &json!({}), &[400, 60]).await;
    let url = checkout.ops.base().to_owned();
    let flags =
        ["--insecure-cookies", "--checkout-ops-urls", &url, "--checkout-ops-token", READ_TOKEN];
    let node = RoomNode::start(&stores::redis_url().await, &flags).await;
    let settings = json!({
        "name": "Winter tour, the great hall", "admission_rate_per_minute": 240, "max_active_sessions": 60,
        "message": "The balcony is nearly sold out.",
    });
    node.create("concert", &settings).await.expect(201);
    node.knows("concert").await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}/dashboard?event=concert", node.ops.base())).await;
    browser.enter("#token", OPS_TOKEN).await;
    browser.click("#sign-in button").await;
    browser.sees("#status", "Open").await;

    let mut people = Vec::new();
    for _ in 0..40 {
        people.push(node.join("concert").await);
    }
    for (n, (person, buyer)) in people.iter().zip(checkout.crowd("concert", 24)).enumerate() {
        person.admitted().await;
        let held = buyer.reserve(&sectors[n % 2], 2, "key").await.expect(201).str("id");
        if n % 3 == 0 {
            buyer.confirm(&held).await.expect(200);
        }
    }
    let samples = async || {
        let path = "/v1/admin/events/concert/metrics/history";
        let history = node.ops.get(path).await.expect(200).json();
        history["at_ms"].as_array().map_or(0, Vec::len)
    };
    wait::until("some moments", async || (samples().await > 2).then_some(())).await;
    browser.sees("#sale", "created 24").await;
    browser.find("#charts canvas").await;
    for details in 1..=8 {
        browser
            .script(&format!("document.querySelectorAll('details')[{details} - 1].open = true"))
            .await;
    }
    browser.sees("#charts table", "15 min ago").await;
    for look in [Look::desktop(), Look::phone(), Look::narrow()] {
        browser.show(&look).await;
        browser.is_accessible(look.clone()).await;
        browser.fits().await;
    }
    browser
        .script("for (const one of document.querySelectorAll('details')) one.open = false")
        .await;
    let tall = Look { height: 1_500, ..Look::desktop() };
    for (name, look) in [
        ("dashboard-desktop", tall.clone()),
        ("dashboard-dark", tall.dark()),
        ("dashboard-phone", Look { height: 1_800, ..Look::phone() }),
    ] {
        browser.show(&look).await;
        browser.find("#charts canvas").await;
        browser.screenshot(name).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_works_by_keyboard_alone() {
    let node = RoomNode::start(&stores::redis_url().await, &["--insecure-cookies"]).await;
    node.create("concert", &json!({})).await.expect(201);
    node.knows("concert").await;
    let browser = Browser::open(Look::desktop()).await;
    browser.goto(&format!("{}/dashboard?event=concert", node.ops.base())).await;
    browser.find("#token").await;
    browser.press(OPS_TOKEN).await;
    browser.press("\u{e007}").await;
    browser.sees("#status", "Open").await;
    let focused = async || browser.script("return document.activeElement.id").await;
    wait::until("the pause button to have the focus", async || {
        browser.press("\u{e004}").await;
        (focused().await == json!("do-pause")).then_some(())
    })
    .await;
    browser.press("\u{e007}").await;
    wait::until("the safe answer to have the focus", async || {
        (focused().await == json!("confirm-no")).then_some(())
    })
    .await;
    // Escape leaves everything as it is, and gives the focus back.
    browser.press("\u{e00c}").await;
    wait::until("the focus to be back", async || {
        (focused().await == json!("do-pause")).then_some(())
    })
    .await;
    browser.press("\u{e007}").await;
    browser.press("\u{e004}").await;
    browser.press("\u{e007}").await;
    browser.sees("#status", "Paused").await;
}
