//! The waiting page.

use serde_json::json;
use tests::browser::{Browser, Look};
use tests::room;

#[tokio::test(flavor = "multi_thread")]
async fn who_is_called_sees_that_it_is_his_turn() {
    let node = room::single(&[]).await;
    node.create("concert", &json!({})).await;
    node.knows("concert").await;
    let browser = Browser::open(Look::phone()).await;
    browser.goto(&format!("{}/events/concert", node.public.base())).await;
    browser.sees("h1", "It is your turn").await;
    browser.is_accessible(Look::phone()).await;
    browser.screenshot("ready").await;
}
