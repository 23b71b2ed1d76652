//! The waiting room's ops listener.

use reqwest::Method;
use serde_json::json;
use tests::client::{Client, send};
use tests::room::{RoomNode, single};
use tests::{stores, wait};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_on_the_ops_listener_answers_without_its_token() {
    let node = single(&[]).await;
    let address = node.ops.base().trim_start_matches("http://").to_owned();
    let anonymous = Client::new(address);
    for client in [anonymous.clone(), anonymous.with_bearer("ops-token-of-the-testz")] {
        for path in ["/metrics", "/v1/admin/events", "/v1/admin/events/sale", "/nowhere"] {
            client.get(path).await.expect_problem(401, "invalid_token");
        }
    }
    // A method that a client makes up is no metric of its own.
    let made_up = Method::from_bytes(b"BREW").expect("a token");
    send(node.public.request(made_up, "/healthz")).await.expect(405);
    let metrics = node.ops.get("/metrics").await.expect(200).text;
    let others = r#"http_requests_total{method="other",route="/healthz",status="405"} "#;
    assert!(metrics.contains(others) && !metrics.contains("BREW"), "{metrics}");
    node.public.get("/v1/admin/events").await.expect_problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_created_changed_and_read() {
    let node = single(&[]).await;
    assert_eq!(node.create("sale", &json!({})).await.expect(201).number("version"), 1);
    let changed = node.create("sale", &json!({"name": "Another"})).await.expect(200);
    assert_eq!(changed.str("name"), "Another");
    let rate = json!({"admission_rate_per_minute": 42});
    node.ops.patch("/v1/admin/events/sale/rate", &rate).await.expect(200);
    let patch = json!({"max_queue_length": 7, "max_active_sessions": 3});
    node.ops.patch("/v1/admin/events/sale", &patch).await.expect(200);
    let patched = node.ops.patch("/v1/admin/events/sale", &json!({"max_queue_length": null})).await;
    assert!(patched.expect(200).json()["max_queue_length"].is_null());

    let read = node.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!(read.str("name"), "Another");
    assert_eq!(read.number("admission_rate_per_minute"), 42);
    assert_eq!(read.number("max_active_sessions"), 3);
    let list = node.ops.get("/v1/admin/events").await.expect(200);
    assert_eq!(list.json(), json!({"events": ["sale"]}));
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_out_of_bounds_change_nothing() {
    let node = single(&[]).await;
    node.create("sale", &json!({"name": "Kept"})).await.expect(201);
    for settings in [
        json!({"admission_rate_per_minute": 0}),
        json!({"admission_rate_per_minute": -1}),
        json!({"admission_rate_per_minute": "many"}),
        json!({"max_active_sessions": 100_000_000}),
        json!({"checkout_url": "javascript:alert(1)"}),
        json!({"return_origins": ["not an origin"]}),
        json!({"return_origins": ["https://shop.example/checkout"]}),
        json!({"return_origins": ["https://shop.example@evil.example"]}),
        json!({"opens_at": "tomorrow"}),
        json!({"name": ""}),
        json!({"message": "x".repeat(501)}),
        json!({"brand_color": "red"}),
        json!({"logo_url": "http://shop.example/logo.svg"}),
        json!({"surprise": true}),
        json!({"queueing_method": "lifo"}),
    ] {
        node.create("sale", &settings).await.expect_problem(400, "invalid_request");
        let patched = node.ops.patch("/v1/admin/events/sale", &settings).await;
        patched.expect_problem(400, "invalid_request");
        node.create("new", &settings).await.expect_problem(400, "invalid_request");
    }
    assert_eq!(node.ops.get("/v1/admin/events/sale").await.expect(200).number("version"), 1);
    node.ops.get("/v1/admin/events/new").await.expect_problem(404, "not_found");
    node.ops.post("/v1/admin/events/new/pause").await.expect_problem(404, "not_found");
    node.ops.post("/v1/admin/events/sale/explode").await.expect_problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_message_is_in_the_public_status_until_it_is_taken_away() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.knows("sale").await;
    for message in [json!("Doors open an hour later."), json!(null)] {
        let change = json!({ "message": message });
        node.ops.patch("/v1/admin/events/sale", &change).await.expect(200);
        tests::wait::until("the message to be told", async || {
            let status = node.public.get("/v1/events/sale/status").await.expect(200);
            (status.json()["message"] == message).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_not_json_of_a_fair_size_are_refused() {
    let node = single(&[]).await;
    let put = |body: String, media_type: &str| {
        let request = node.ops.request(Method::PUT, "/v1/admin/events/sale");
        send(request.header("content-type", media_type.to_owned()).body(body))
    };
    put("{".into(), "application/json").await.expect_problem(400, "invalid_request");
    put("{}".into(), "text/plain").await.expect_problem(415, "unsupported_media_type");
    put(" ".repeat(1 << 20), "application/json").await.expect_problem(413, "payload_too_large");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_reach_the_other_node() {
    let redis = stores::redis_url().await;
    let (one, two) = (RoomNode::start(&redis, &[]).await, RoomNode::start(&redis, &[]).await);
    one.create("sale", &json!({"admission_rate_per_minute": 60})).await.expect(201);
    two.knows("sale").await;
    let rate = json!({"admission_rate_per_minute": 1_200});
    two.ops.patch("/v1/admin/events/sale/rate", &rate).await.expect(200);
    wait::until("the other node to know the new rate", async || {
        let status = one.public.get("/v1/events/sale/status").await;
        (status.number("admission_rate_per_minute") == 1_200).then_some(())
    })
    .await;
}
