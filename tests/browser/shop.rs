//! The demo shop, as a person uses it.

use serde_json::json;
use tests::browser::{Browser, Look};
use tests::demo::{Demo, ENTER, EVENT};
use tests::wait;

#[tokio::test(flavor = "multi_thread")]
async fn from_joining_to_the_ticket() {
    let demo = Demo::start(&[], &json!({})).await;
    let browser = Browser::open(Look::phone()).await;
    browser.goto(&format!("{}/events/{EVENT}", demo.room.public.base())).await;
    browser.click(ENTER).await;
    browser.sees("#event", "Night at the harbour").await;
    // The token is out of the address bar, whatever else happens.
    wait::until("the token to be gone", async || {
        (!browser.url().await.contains("token")).then_some(())
    })
    .await;
    browser.sees("#sector-list", "€45.00").await;
    browser.is_accessible(Look::phone()).await;
    browser.screenshot("shop-places").await;

    browser.script("document.querySelector('.quantity').value = '2'").await;
    browser.click("#sector-list button").await;
    browser.sees("#state", "Held for you").await;
    browser.sees("#total", "€90.00").await;
    browser.is_accessible(Look::phone()).await;
    browser.screenshot("shop-hold").await;

    browser.click("#pay-now").await;
    browser.sees("#state", "Paid").await;
    browser.sees("#ticket", "Night at the harbour").await;
    browser.sees("#ticket-items", "2 × Standing").await;
    let id = browser.text("#ticket-id").await;
    assert_eq!(id.len(), 36, "{id}");
    browser.is_accessible(Look::phone()).await;
    browser.screenshot("shop-ticket").await;
    browser.show(&Look::phone().dark()).await;
    browser.screenshot("shop-ticket-dark").await;
    demo.checkout.assert_consistent(EVENT).await;
    assert_eq!(demo.sandbox.done("charge", "succeeded").await.len(), 1);
}
