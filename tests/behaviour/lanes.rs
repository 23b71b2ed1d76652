//! Who may join, and by which lane: access codes, the shop's users, and rooms that are off.

use futures::future::join_all;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};
use shared::admission::SigningKey;
use tests::client::{Answer, send};
use tests::room::{Person, RoomNode, single};
use tests::{keys, wait};

async fn join_with(node: &RoomNode, body: &Value) -> Answer {
    send(node.public.request(Method::POST, "/v1/events/sale/queue").json(body)).await
}

fn person(node: &RoomNode, joined: &Answer) -> Person {
    Person {
        client: node.public.with_bearer(joined.str("ticket")),
        event: "sale".to_owned(),
        number: joined.number("number"),
        ticket: joined.str("ticket"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redelivered_join_keeps_its_number() {
    let node = single(&[]).await;
    node.create("sale", &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    let join = json!({"join_id": "0e4c8d2e-0b0c-4b1e-9b6e-5a3d3f0f9a11"});
    let first = join_with(&node, &join).await.expect(201);
    // The answer was lost; the same request comes again, fifty times at once.
    let again = join_all((0..50).map(|_| join_with(&node, &join))).await;
    for answer in again {
        let answer = answer.expect(200);
        assert_eq!(answer.number("number"), first.number("number"));
        assert_eq!(answer.str("ticket"), first.str("ticket"));
    }
    let status = node.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!(status.number("last_number"), 1);
    let other = json!({"join_id": "0e4c8d2e-0b0c-4b1e-9b6e-5a3d3f0f9a12"});
    assert_eq!(join_with(&node, &other).await.expect(201).number("number"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invite_only_room_takes_a_code_as_often_as_it_says() {
    let node = single(&[]).await;
    node.create("sale", &json!({"access": "invite_only"})).await.expect(201);
    let codes = json!({"codes": [{"code": "ONCE"}, {"code": "TWICE", "uses": 2}]});
    let added = node.ops.request(Method::POST, "/v1/admin/events/sale/access-codes").json(&codes);
    assert_eq!(send(added).await.expect(200).number("codes"), 2);

    join_with(&node, &json!({})).await.expect_problem(403, "access_code");
    join_with(&node, &json!({"access_code": "GUESS"})).await.expect_problem(403, "access_code");
    let joined = join_with(&node, &json!({"access_code": "ONCE"})).await.expect(201);
    join_with(&node, &json!({"access_code": "ONCE"})).await.expect_problem(403, "access_code");
    // Who is in needs no code again.
    assert_eq!(person(&node, &joined).rejoin().await.expect(200).number("number"), 1);
    let twice = json!({"access_code": "TWICE"});
    let uses = join_all((0..10).map(|_| join_with(&node, &twice))).await;
    assert_eq!(uses.iter().filter(|answer| answer.status == 201).count(), 2);
    let status = node.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!(status.number("last_number"), 3, "a refused code gives out no number");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_priority_lane_is_called_first_and_inside_the_rate() {
    let node = single(&[]).await;
    let settings = json!({"admission_rate_per_minute": 60, "max_active_sessions": 1});
    node.create("sale", &settings).await.expect(201);
    node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    let codes = json!({"codes": [{"code": "FANCLUB", "uses": 1, "lane": "priority"}]});
    let added = node.ops.request(Method::POST, "/v1/admin/events/sale/access-codes").json(&codes);
    send(added).await.expect(200);
    let mut others = Vec::new();
    for _ in 0..5 {
        others.push(node.join("sale").await);
    }
    let first =
        person(&node, &join_with(&node, &json!({"access_code": "FANCLUB"})).await.expect(201));
    assert_eq!(first.number, 6);
    assert_eq!(first.place().await.expect(200).number("users_ahead"), 0);

    node.ops.post("/v1/admin/events/sale/resume").await.expect(200);
    first.admitted().await;
    for person in &others {
        // The one session is taken: whoever else is called waits at the gate.
        person.claim().await.expect_problem(409, "not_ready");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_user_always_has_the_same_number() {
    let shop = SigningKey::from_pem(&SigningKey::generate_pem().expect("a key")).expect("a key");
    let (pem, jwks) = keys::shop_user_keys();
    let node = single(&["--identity-jwks-file", &jwks, "--identity-issuer", "the-shop"]).await;
    let settings = json!({"identity": "jwt", "opens_at": "2100-01-01T00:00:00Z"});
    node.create("sale", &settings).await.expect(201);
    let token = |sub: &str, issuer: &str, exp: u64, key: &EncodingKey, kid: &str| {
        let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::EdDSA) };
        let claims = json!({"sub": sub, "iss": issuer, "exp": exp});
        encode(&header, &claims, key).expect("signed")
    };
    let key = EncodingKey::from_ed_pem(pem.as_bytes()).expect("the shop's key");
    let kid = SigningKey::from_pem(&pem).expect("the shop's key").kid().to_owned();
    let user = |sub: &str| json!({"user_token": token(sub, "the-shop", 4_000_000_000, &key, &kid)});

    let first = join_with(&node, &user("alice")).await.expect(201);
    let elsewhere = join_with(&node, &user("alice")).await.expect(200);
    assert_eq!(first.number("number"), elsewhere.number("number"));
    assert_eq!(join_with(&node, &user("bob")).await.expect(201).number("number"), 2);
    for bad in [
        json!({}),
        json!({"user_token": "nonsense"}),
        json!({"user_token": token("eve", "another-shop", 4_000_000_000, &key, &kid)}),
        json!({"user_token": token("eve", "the-shop", 1_000_000_000, &key, &kid)}),
        json!({"user_token": token("eve", "the-shop", 4_000_000_000, &key, shop.kid())}),
    ] {
        join_with(&node, &bad).await.expect_problem(401, "invalid_token");
    }
    let status = node.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!(status.number("last_number"), 2);
    // A place that was given up is nobody's: the same user starts again at the end.
    let leaving = node.public.with_bearer(first.str("ticket"));
    leaving.delete("/v1/events/sale/queue").await.expect(204);
    assert_eq!(join_with(&node, &user("alice")).await.expect(201).number("number"), 3);

    let unconfigured = single(&[]).await;
    unconfigured.create("sale", &settings).await.expect_problem(400, "invalid_request");
    let plain = json!({"opens_at": "2100-01-01T00:00:00Z"});
    unconfigured.create("sale", &plain).await.expect(201);
    let patched =
        unconfigured.ops.patch("/v1/admin/events/sale", &json!({"identity": "jwt"})).await;
    patched.expect_problem(400, "invalid_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_is_off_lets_everybody_through_at_once() {
    let node = single(&[]).await;
    let settings = json!({
        "queueing_method": "passthrough", "admission_rate_per_minute": 1, "max_active_sessions": 1,
    });
    node.create("sale", &settings).await.expect(201);
    for _ in 0..5 {
        let person = node.join("sale").await;
        assert_eq!(person.status().await, "ready");
        person.claim().await.expect(201);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_that_rejects_lets_nobody_in() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    let person = node.join("sale").await;
    node.ops
        .patch("/v1/admin/events/sale", &json!({"queueing_method": "reject"}))
        .await
        .expect(200);
    join_with(&node, &json!({})).await.expect_problem(409, "closed");
    person.claim().await.expect_problem(409, "not_ready");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_joins_are_refused_and_give_out_no_number() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    for body in ["{", "[]", r#"{"surprise":1}"#, r#"{"join_id":"x"}"#, r#"{"access_code":7}"#] {
        let request = node.public.request(Method::POST, "/v1/events/sale/queue").body(body);
        send(request).await.expect_problem(400, "invalid_request");
    }
    let big = node.public.request(Method::POST, "/v1/events/sale/queue").body("x".repeat(1 << 20));
    send(big).await.expect_problem(413, "payload_too_large");
    let status = node.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!(status.number("last_number"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_written_to_the_audit_log() {
    let node = single(&[]).await;
    node.create("sale", &json!({"name": "Before"})).await.expect(201);
    node.ops.patch("/v1/admin/events/sale", &json!({"name": "After"})).await.expect(200);
    node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    let audit = node.ops.get("/v1/admin/events/sale/audit?count=10").await.expect(200).json();
    let changes = audit["changes"].as_array().expect("a list");
    let what: Vec<_> = changes.iter().map(|change| change["what"].as_str().unwrap_or("")).collect();
    assert_eq!(what, ["control", "change", "create"]);
    assert_eq!((&changes[0]["before"], &changes[0]["after"]), (&json!("open"), &json!("paused")));
    let (before, after) = (changes[1]["before"].to_string(), changes[1]["after"].to_string());
    assert!(before.contains("Before") && after.contains("After"), "{changes:?}");
    assert!(changes[1]["at_ms"].as_u64().is_some_and(|at| at > 1_700_000_000_000));
    node.ops.get("/v1/admin/events/none/audit").await.expect_problem(404, "not_found");
    node.ops
        .get("/v1/admin/events/sale/audit?count=0")
        .await
        .expect_problem(400, "invalid_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_changed_while_people_wait_holds_at_once() {
    let node = single(&[]).await;
    node.create("sale", &json!({"admission_rate_per_minute": 1})).await.expect(201);
    let mut people = Vec::new();
    for _ in 0..10 {
        people.push(node.join("sale").await);
    }
    people[0].admitted().await;
    assert_eq!(people[9].claim().await.code(), "not_ready");
    let rate = json!({"admission_rate_per_minute": 6_000});
    node.ops.patch("/v1/admin/events/sale/rate", &rate).await.expect(200);
    wait::until("everybody to be let in", async || {
        let claims = join_all(people.iter().map(|person| person.claim())).await;
        claims.iter().all(|claim| matches!(claim.status, 200 | 201)).then_some(())
    })
    .await;
}
