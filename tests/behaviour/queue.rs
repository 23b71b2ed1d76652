//! Joining, waiting, leaving.

use reqwest::Method;
use serde_json::json;
use tests::client::send;
use tests::room::{RoomNode, single};
use tests::{stores, wait};

#[tokio::test(flavor = "multi_thread")]
async fn numbers_are_given_in_order_and_kept() {
    let node = single(&[]).await;
    node.create("sale", &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    let (first, second) = (node.join("sale").await, node.join("sale").await);
    assert_eq!((first.number, second.number), (1, 2));

    let again = second.rejoin().await.expect(200);
    assert_eq!(again.number("number"), 2);
    assert_eq!(again.number("users_ahead"), 1);
    assert_eq!(again.str("status"), "pre_queue");
    let place = second.place().await.expect(200);
    assert_eq!(place.json(), again.json());
    assert_eq!(place.header("cache-control"), "no-store");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_keeps_its_place_in_a_cookie_of_that_event() {
    let node = single(&[]).await;
    for event in ["sale", "other"] {
        node.create(event, &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    }
    let joined = node.public.post("/v1/events/sale/queue").await.expect(201);
    let cookie = joined.header("set-cookie").to_owned();
    assert!(cookie.starts_with("__Host-stanchion-sale="), "{cookie}");
    for attribute in ["Path=/", "HttpOnly", "SameSite=Lax", "Secure", "Max-Age="] {
        assert!(cookie.contains(attribute), "{cookie} has no {attribute}");
    }
    let pair = cookie.split(';').next().unwrap_or_default();
    let with_cookie = async |method, event: &str| {
        let path = format!("/v1/events/{event}/queue");
        send(node.public.request(method, &path).header("cookie", format!("a=b; {pair}"))).await
    };
    assert_eq!(with_cookie(Method::POST, "sale").await.expect(200).number("number"), 1);
    assert_eq!(with_cookie(Method::GET, "sale").await.expect(200).number("number"), 1);
    with_cookie(Method::GET, "other").await.expect_problem(401, "invalid_token");

    let insecure = single(&["--insecure-cookies"]).await;
    insecure.create("sale", &json!({})).await.expect(201);
    let joined = insecure.public.post("/v1/events/sale/queue").await.expect(201);
    let cookie = joined.header("set-cookie");
    assert!(cookie.starts_with("stanchion-sale=") && !cookie.contains("Secure"), "{cookie}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_follows_the_place_and_who_has_none_gets_none() {
    let node = single(&[]).await;
    node.create("sale", &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    let first = node.join("sale").await;
    let joined = node.public.post("/v1/events/sale/queue").await.expect(201);
    let cookie = joined.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
    first.leave().await.expect(204);
    node.ops.post("/v1/admin/events/sale/open").await.expect(200);
    node.ops.post("/v1/admin/events/sale/pause").await.expect(200);

    let by_cookie = || {
        send(node.public.request(Method::GET, "/v1/events/sale/queue").header("cookie", &cookie))
    };
    let told = wait::until("a new ticket in the cookie", async || {
        let answer = by_cookie().await;
        (answer.status == 200 && answer.number("users_ahead") == 0).then_some(answer)
    })
    .await;
    assert!(told.header("set-cookie").contains(&told.str("ticket")), "{told:?}");
    let by_header = node.public.with_bearer(joined.str("ticket"));
    let told = wait::until("a poll to be in time", async || {
        let answer = by_header.get("/v1/events/sale/queue").await;
        (answer.status == 200).then_some(answer)
    })
    .await;
    assert_eq!(told.header("set-cookie"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_is_forged_or_missing_is_no_ticket() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    let person = node.join("sale").await;
    let ticket = person.place().await.str("ticket");
    let forged = format!("{}x", &ticket[..ticket.len() - 1]);
    for client in [node.public.clone(), node.public.with_bearer(forged)] {
        for path in ["/v1/events/sale/queue", "/v1/events/nothing/queue"] {
            let code =
                if path.contains("nothing") { (404, "not_found") } else { (401, "invalid_token") };
            client.get(path).await.expect_problem(code.0, code.1);
        }
        client.post("/v1/events/sale/admission").await.expect_problem(401, "invalid_token");
        client.post("/v1/events/sale/queue/heartbeat").await.expect_problem(401, "invalid_token");
        client.delete("/v1/events/sale/queue").await.expect_problem(401, "invalid_token");
    }
    let heartbeat = person.client.post("/v1/events/sale/queue/heartbeat").await;
    assert_eq!(heartbeat.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_gets_a_new_number_when_he_comes_again() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    let person = node.join("sale").await;
    person.called().await;
    assert_eq!(person.leave().await.status, 204);
    person.claim().await.expect_problem(410, "missed");
    person.place().await.expect_problem(410, "missed");
    assert_eq!(person.rejoin().await.expect(201).number("number"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn before_the_opening_people_gather_and_at_the_opening_they_are_called() {
    let node = single(&[]).await;
    node.create("sale", &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    let person = node.join("sale").await;
    let place = person.place().await.expect(200);
    assert_eq!(place.str("status"), "pre_queue");
    assert!(place.json()["estimated_wait_seconds"].is_null());
    person.claim().await.expect_problem(409, "not_ready");
    let status = node.public.get("/v1/events/sale/status").await.expect(200);
    assert_eq!((status.str("status").as_str(), status.number("serving")), ("pre_queue", 0));

    let past = json!({"opens_at": "2020-01-01T00:00:00Z"});
    node.ops.patch("/v1/admin/events/sale", &past).await.expect(200);
    person.called().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_takes_nobody_and_loses_nobody() {
    let node = single(&[]).await;
    let settings = json!({"opens_at": "2100-01-01T00:00:00Z", "max_queue_length": 2});
    node.create("sale", &settings).await.expect(201);
    let (first, _second) = (node.join("sale").await, node.join("sale").await);
    let refused = node.public.post("/v1/events/sale/queue").await;
    refused.expect_problem(503, "queue_full");
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds >= 1));
    assert_eq!(first.rejoin().await.expect(200).number("number"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_from_one_address_are_limited() {
    let node = single(&["--join-limit-per-minute", "3"]).await;
    node.create("sale", &json!({})).await.expect(201);
    for _ in 0..3 {
        node.join("sale").await;
    }
    let refused = node.public.post("/v1/events/sale/queue").await;
    refused.expect_problem(429, "rate_limited");
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds >= 1));
    node.public.get("/v1/events/sale/status").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_status_is_the_same_for_everybody_and_may_be_cached() {
    let node = single(&[]).await;
    node.create("sale", &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    let person = node.join("sale").await;
    wait::until("the node to see the join", async || {
        let status = node.public.get("/v1/events/sale/status").await;
        (status.number("waiting") == 1).then_some(())
    })
    .await;
    let anonymous = node.public.get("/v1/events/sale/status").await.expect(200);
    let personal = person.client.get("/v1/events/sale/status").await.expect(200);
    assert_eq!(anonymous.text, personal.text);
    assert_eq!(anonymous.header("cache-control"), "public, max-age=1");
    assert_eq!(anonymous.header("set-cookie"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_are_refused_with_a_problem() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    for (method, path, status, code) in [
        (Method::POST, "/v1/events/%ff/queue", 400, "invalid_request"),
        (Method::POST, "/v1/events/SALE/queue", 400, "invalid_request"),
        (Method::POST, "/v1/events/none/queue", 404, "not_found"),
        (Method::GET, "/v1/events/none/status", 404, "not_found"),
        (Method::GET, "/events/none", 404, "not_found"),
        (Method::GET, "/nowhere", 404, "not_found"),
        (Method::PUT, "/v1/events/sale/queue", 405, "method_not_allowed"),
    ] {
        let answer = send(node.public.request(method, path)).await;
        answer.expect_problem(status, code);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_waiting_page_is_served_with_everything_it_loads() {
    let node = single(&[]).await;
    node.create("sale", &json!({"name": "Tom & <Jerry>"})).await.expect(201);
    let page = node.public.get("/events/sale").await.expect(200);
    assert!(page.text.contains("Tom &amp; &lt;Jerry&gt;"), "the name is escaped");
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    for asset in ["/assets/room.css", "/assets/room.js"] {
        assert!(page.text.contains(asset));
        node.public.get(asset).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_know_the_same_queue() {
    let redis = stores::redis_url().await;
    let (one, two) = (RoomNode::start(&redis, &[]).await, RoomNode::start(&redis, &[]).await);
    one.create("sale", &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    two.knows("sale").await;
    let first = one.join("sale").await;
    let second = two.join("sale").await;
    assert_eq!((first.number, second.number), (1, 2));
    assert_eq!(first.at(&two).place().await.expect(200).number("number"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_on_somebody_elses_page_cannot_give_anybody_a_new_place() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    for kind in
        ["application/x-www-form-urlencoded", "text/plain;charset=UTF-8", "multipart/form-data"]
    {
        let form = node.public.request(Method::POST, "/v1/events/sale/queue");
        let answer = send(form.header("content-type", kind)).await;
        answer.expect_problem(415, "unsupported_media_type");
        assert_eq!(answer.header("set-cookie"), "", "the place of a victim is kept");
    }
    assert_eq!(node.join("sale").await.number, 1);
}
