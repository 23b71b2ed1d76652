//! `/openapi.json` and `/docs`: what they say is what is served. The checkout's answers: `sale_openapi`.

use reqwest::Method;
use serde_json::json;
use tests::client::send;
use tests::document::Document;
use tests::room::single;
use tests::sale;
use tests::sandbox::paying;

const FAR: &str = "2100-01-01T00:00:00Z";

#[tokio::test(flavor = "multi_thread")]
async fn the_documents_hold_together() {
    let (room, checkout) = tokio::join!(single(&[]), sale::single(&[]));
    for client in [&room.public, &room.ops, &checkout.public, &checkout.ops] {
        Document::of(client).await.assert_holds_together();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_served_is_described_and_what_is_described_is_served() {
    // One that takes payments: without a provider, nothing is known of one.
    let (room, (_sandbox, checkout)) = tokio::join!(single(&[]), paying(&[]));
    room.create("sale", &json!({"queueing_method": "random", "opens_at": FAR})).await.expect(201);
    checkout.on_sale("sale", 1).await;
    let id = uuid::Uuid::nil().to_string();
    let address = |path: &str| {
        let path = path.replace("{event}", "sale").replace("{control}", "pause");
        path.replace("{provider}", "sandbox").replace("{id}", &id)
    };
    for client in [&room.public, &room.ops, &checkout.public, &checkout.ops] {
        Document::of(client).await.assert_is_served(client, address).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visitors_answers_are_as_described() {
    let node = single(&[]).await;
    let document = Document::of(&node.public).await;
    let settings = json!({
        "queueing_method": "random", "opens_at": FAR, "draw_beacon": "the hash of block 900000",
    });
    node.create("sale", &settings).await.expect(201);
    let get = async |path: &str| {
        let answer = node.public.get(&path.replace("{event}", "sale")).await.expect(200);
        document.describes(&format!("GET {path}"), &answer);
    };
    let join = "POST /v1/events/{event}/queue";
    document.describes(join, &node.public.post("/v1/events/sale/queue").await.expect(201));
    let person = node.join("sale").await;
    document.describes(join, &person.rejoin().await.expect(200));
    document.describes("GET /v1/events/{event}/queue", &person.place().await.expect(200));
    let early = person.poll().await.expect(429);
    document.describes("GET /v1/events/{event}/queue", &early);
    let claim = "POST /v1/events/{event}/admission";
    document.describes(claim, &person.claim().await.expect(409));
    for path in ["/v1/events/{event}/draw", "/v1/events/{event}/status"] {
        get(path).await;
    }

    let opening = json!({"opens_at": "2020-01-01T00:00:00Z", "draw_beacon_value": "0000"});
    node.ops.patch("/v1/admin/events/sale", &opening).await.expect(200);
    person.called().await;
    document.describes("GET /v1/events/{event}/queue", &person.place().await.expect(200));
    document.describes(claim, &person.claim().await.expect(201));
    document.describes(claim, &person.claim().await.expect(200));
    for path in [
        "/v1/events/{event}/draw",
        "/v1/events/{event}/status",
        "/.well-known/jwks.json",
        "/events/{event}",
        "/healthz",
        "/readyz",
        "/docs",
        "/openapi.json",
    ] {
        get(path).await;
    }

    let beat = node.public.post("/v1/events/sale/queue/heartbeat").await.expect(401);
    document.describes("POST /v1/events/{event}/queue/heartbeat", &beat);
    let unknown = node.public.get("/v1/events/nothing/status").await.expect(404);
    document.describes("GET /v1/events/{event}/status", &unknown);
    let malformed = node.public.post("/v1/events/NO/queue").await.expect(400);
    document.describes(join, &malformed);
    document.describes("DELETE /v1/events/{event}/queue", &person.leave().await.expect(204));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_answers_are_as_described() {
    let node = single(&[]).await;
    let document = Document::of(&node.ops).await;
    let room = "/v1/admin/events/{event}";
    document.describes(&format!("PUT {room}"), &node.create("sale", &json!({})).await.expect(201));
    let all = json!({
        "opens_at": "2020-01-01T00:00:00Z", "pre_queue_at": "2019-01-01T00:00:00Z",
        "max_queue_length": 7, "draw_beacon": "a", "draw_beacon_value": "b",
    });
    document.describes(&format!("PUT {room}"), &node.create("sale", &all).await.expect(200));
    let wrong = node.create("sale", &json!({"name": ""})).await.expect(400);
    document.describes(&format!("PUT {room}"), &wrong);
    for path in ["", "/audit", "/metrics", "/metrics/history"] {
        let answer = node.ops.get(&format!("/v1/admin/events/sale{path}")).await.expect(200);
        document.describes(&format!("GET {room}{path}"), &answer);
    }
    for path in [
        "/v1/admin/events",
        "/v1/admin/session",
        "/dashboard",
        "/metrics",
        "/docs",
        "/openapi.json",
    ] {
        document.describes(&format!("GET {path}"), &node.ops.get(path).await.expect(200));
    }
    let patched = node.ops.patch("/v1/admin/events/sale", &json!({"name": "New"})).await;
    document.describes(&format!("PATCH {room}"), &patched.expect(200));
    let rate = json!({"admission_rate_per_minute": 60});
    let rate = node.ops.patch("/v1/admin/events/sale/rate", &rate).await.expect(200);
    document.describes(&format!("PATCH {room}/rate"), &rate);
    let codes = json!({"codes": [{"code": "A", "uses": 2, "lane": "priority"}]});
    let request = node.ops.request(Method::POST, "/v1/admin/events/sale/access-codes");
    let codes = send(request.json(&codes)).await.expect(200);
    document.describes(&format!("POST {room}/access-codes"), &codes);
    let paused = node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    document.describes(&format!("POST {room}/{{control}}"), &paused);
    let anonymous = node.ops.anonymous();
    let refused = anonymous.get("/v1/admin/events").await.expect(401);
    document.describes("GET /v1/admin/events", &refused);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_loads_nothing_from_elsewhere_and_holds_nothing_secret() {
    let (room, checkout) = tokio::join!(single(&[]), sale::single(&[]));
    let anonymous = [&room.ops, &checkout.ops].map(|ops| ops.anonymous());
    for client in &anonymous {
        client.get("/openapi.json").await.expect_problem(401, "invalid_token");
    }
    for client in anonymous.iter().chain([&room.public, &checkout.public]) {
        let page = client.get("/docs").await.expect(200);
        let mut loaded = vec![page.clone()];
        for quoted in page.text.split('"').filter(|text| text.starts_with("/docs/")) {
            loaded.push(client.get(quoted).await.expect(200));
        }
        assert_eq!(loaded.len(), 3, "a style and a script");
        for answer in loaded {
            let policy = answer.header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(!policy.contains("unsafe") && !policy.contains("data:"), "{policy}");
            for elsewhere in ["http:", "https:", "\"//", " url(", ":url(", "@import"] {
                assert!(!answer.text.contains(elsewhere), "{elsewhere} in {}", answer.text);
            }
        }
        for inline in ["<style", " style=", "<script>", " onclick="] {
            assert!(!page.text.contains(inline), "{inline} in {}", page.text);
        }
    }
}
