//! Somebody's shop behind nginx, with the waiting room in front of it.

use serde_json::json;
use tests::browser::{Browser, Look};
use tests::nginx::{Nginx, Ports};
use tests::{greeter, room, wait};

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_to_check_out_waits_first_and_then_gets_there() {
    let node = room::single(&[]).await;
    let ports = Ports::free();
    let settings = json!({
        "checkout_url": format!("{}/enter", ports.shop_origin()),
        "return_origins": [ports.shop_origin()],
    });
    node.create("my-concert", &settings).await.expect(201);
    node.knows("my-concert").await;
    let nginx = Nginx::start(&ports, &node.public, &greeter::start().await).await;

    let browser = Browser::open(Look::phone()).await;
    browser.goto(&format!("{}/checkout/", nginx.shop.base())).await;
    assert!(browser.url().await.starts_with(nginx.queue.base()));
    browser.click("#enter").await;
    wait::until("the shop", async || {
        (browser.url().await == format!("{}/checkout/", nginx.shop.base())).then_some(())
    })
    .await;
    browser.sees("body", "welcome ").await;
    assert!(!browser.text("body").await.contains("stranger"));

    // The cookie is out of the reach of scripts, and good for a second visit.
    assert_eq!(browser.script("return document.cookie").await, "");
    browser.goto(&format!("{}/checkout/", nginx.shop.base())).await;
    browser.sees("body", "welcome ").await;
}
