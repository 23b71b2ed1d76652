//! `/openapi.json` of the checkout, held against its answers.

use reqwest::Method;
use serde_json::{Value, json};
use tests::client::send;
use tests::document::Document;
use tests::gate::Gate;
use tests::sale::{confirm, new_key, single};

const RESERVE: &str = "POST /v1/reservations";
const READ: &str = "GET /v1/reservations/{id}";
const CANCEL: &str = "DELETE /v1/reservations/{id}";
const EXTEND: &str = "POST /v1/reservations/{id}/extend";
const CONFIRM: &str = "POST /v1/reservations/{id}/confirm";
const ISSUE: &str = "POST /v1/idempotency-keys";
const EVENT: &str = "/v1/admin/events/{event}";

#[tokio::test(flavor = "multi_thread")]
async fn a_buyers_answers_are_as_described() {
    let node = single(&[]).await;
    let document = Document::of(&node.public).await;
    let sectors = node.on_sale_with("sale", &json!({"max_per_user": 3}), &[2, 9]).await;
    let (few, many) = (sectors[0].as_str(), sectors[1].as_str());
    let (buyer, other) = (node.buyer("sale", "a"), node.buyer("sale", "b"));
    let key = new_key();
    let held = buyer.reserve(few, 2, &key).await.expect(201);
    document.describes(RESERVE, &held);
    document.describes(RESERVE, &buyer.reserve(few, 2, &key).await.expect(200));
    document.describes(RESERVE, &buyer.reserve(few, 1, &key).await.expect(422));
    document.describes(RESERVE, &buyer.reserve(many, 2, &new_key()).await.expect(409));
    document.describes(RESERVE, &other.reserve(few, 1, &new_key()).await.expect(409));
    document.describes(RESERVE, &other.reserve(few, 5, &new_key()).await.expect(422));
    document.describes(RESERVE, &other.reserve_body(&json!({}), &new_key()).await.expect(400));
    let nowhere = other.reserve(&new_key(), 1, &new_key()).await.expect(404);
    document.describes(RESERVE, &nowhere);
    let unsold = node.buyer("unsold", "a").reserve(few, 1, &new_key()).await.expect(403);
    document.describes(RESERVE, &unsold);
    document.describes(RESERVE, &node.public.post("/v1/reservations").await.expect(401));
    document.describes(RESERVE, &other.client.post("/v1/reservations").await.expect(400));
    let text = other.client.request(Method::POST, "/v1/reservations");
    let text = send(text.header("idempotency-key", "k").body("{}")).await.expect(415);
    document.describes(RESERVE, &text);
    let large = other.client.request(Method::POST, "/v1/reservations").json(&"x".repeat(20_000));
    document.describes(RESERVE, &send(large.header("idempotency-key", "k")).await.expect(413));

    let id = held.str("id");
    document.describes(READ, &buyer.get(&id).await.expect(200));
    document.describes(READ, &other.get(&id).await.expect(404));
    document.describes(READ, &other.get("no-id").await.expect(400));
    let extend = async || {
        let path = format!("/v1/reservations/{id}/extend");
        let request = buyer.client.request(Method::POST, &path);
        send(request.header("idempotency-key", new_key())).await
    };
    document.describes(EXTEND, &extend().await.expect(200));
    document.describes(EXTEND, &extend().await.expect(409));
    document.describes(CONFIRM, &confirm(&buyer.client, &id, &key).await.expect(401));
    document.describes(CONFIRM, &buyer.confirm_with(&id, &key).await.expect(200));
    document.describes(CONFIRM, &buyer.confirm_with(&id, &key).await.expect(200));
    document.describes(CANCEL, &buyer.cancel(&id).await.expect(409));
    let let_go = other.hold(many).await;
    document.describes(CANCEL, &other.cancel(&let_go).await.expect(200));
    document.describes(CONFIRM, &other.confirm(&let_go).await.expect(410));
    let missing = other.service.post(&format!("/v1/reservations/{let_go}/confirm")).await;
    document.describes(CONFIRM, &missing.expect(400));
    let key = buyer.client.post("/v1/idempotency-keys").await.expect(201);
    document.describes(ISSUE, &key);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_the_same_for_everybody_is_as_described() {
    let node = single(&[]).await;
    let document = Document::of(&node.public).await;
    node.on_sale("sale", 2).await;
    for path in ["/v1/events/{event}/sectors", "/healthz", "/readyz", "/docs", "/openapi.json"] {
        let answer = node.public.get(&path.replace("{event}", "sale")).await.expect(200);
        document.describes(&format!("GET {path}"), &answer);
    }
    let unknown = node.public.get("/v1/events/nothing/sectors").await.expect(404);
    document.describes("GET /v1/events/{event}/sectors", &unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undecided_answer_and_a_limited_one_are_as_described() {
    let flags = [
        "--decision-wait-ms",
        "50",
        "--user-rate-per-second",
        "1",
        "--user-rate-burst",
        "2",
        "--idempotency-keys",
        "client",
    ];
    let node = single(&flags).await;
    let document = Document::of(&node.public).await;
    let sector = node.on_sale("sale", 2).await;
    let buyer = node.buyer("sale", "a");
    let gate = Gate::shut(&node.ledger, &sector).await;
    let pending = buyer.reserve_one(&sector).await.expect(202);
    document.describes(RESERVE, &pending);
    let owner = node.with_token(pending.str("reservation_token"));
    document.describes(READ, &owner.get(&pending.str("id")).await.expect(200));
    let refused = buyer.reserve_one(&sector).await.expect(429);
    document.describes(RESERVE, &refused);
    gate.open().await;
    let none = node.buyer("sale", "b").client.post("/v1/idempotency-keys").await.expect(404);
    document.describes(ISSUE, &none);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_answers_are_as_described() {
    let node = single(&[]).await;
    let document = Document::of(&node.ops).await;
    document.describes(&format!("PUT {EVENT}"), &node.create("sale", &json!({})).await.expect(201));
    let sectors = json!({"sectors": [{"name": "A", "capacity": 2}]});
    let put = node.create("sale", &sectors).await.expect(200);
    document.describes(&format!("PUT {EVENT}"), &put);
    let wrong = node.create("sale", &json!({"name": ""})).await.expect(400);
    document.describes(&format!("PUT {EVENT}"), &wrong);
    let sector = put.json()["sectors"][0]["sector_id"].as_str().expect("an id").to_owned();
    node.buyer("sale", "a").hold(&sector).await;
    let patch = async |event: &str, body: Value| {
        node.ops.patch(&format!("/v1/admin/events/{event}"), &body).await
    };
    let patched = patch("sale", json!({"name": "New"})).await.expect(200);
    document.describes(&format!("PATCH {EVENT}"), &patched);
    let taken = json!({"sectors": [{"name": "A", "capacity": 0}]});
    document.describes(&format!("PATCH {EVENT}"), &patch("sale", taken).await.expect(422));
    document.describes(&format!("PATCH {EVENT}"), &patch("none", json!({})).await.expect(404));
    // A report of a difference has more in it than one without.
    sqlx::query("UPDATE user_totals SET held = held + 1")
        .execute(node.ledger.pool())
        .await
        .expect("a total is changed");
    for path in ["", "/metrics", "/reconcile"] {
        let answer = node.ops.get(&format!("/v1/admin/events/sale{path}")).await.expect(200);
        document.describes(&format!("GET {EVENT}{path}"), &answer);
    }
    for path in ["/v1/admin/events", "/v1/admin/session", "/metrics", "/docs", "/openapi.json"] {
        document.describes(&format!("GET {path}"), &node.ops.get(path).await.expect(200));
    }
    let refused = node.ops.anonymous().get("/v1/admin/events").await.expect(401);
    document.describes("GET /v1/admin/events", &refused);
}

/// What the document says of a number's bounds is what holds.
#[tokio::test(flavor = "multi_thread")]
async fn the_bounds_of_an_operators_fields_are_those_that_hold() {
    let node = single(&[]).await;
    let document = Document::of(&node.ops).await;
    let mut bounded = 0;
    for schema in ["EventChange", "SectorChange"] {
        let fields = &document.value()["components"]["schemas"][schema]["properties"];
        for (name, field) in fields.as_object().expect("fields") {
            let bound = |which: &str| field[which].as_i64();
            let (Some(least), Some(most)) = (bound("minimum"), bound("maximum")) else { continue };
            bounded += 1;
            for (value, status) in [(least - 1, 400), (least, 200), (most, 200), (most + 1, 400)] {
                let of_sector = json!({"sectors": [{"name": "A", "capacity": 1, (name): value}]});
                let body = match schema {
                    "SectorChange" => of_sector,
                    _ => json!({ (name): value }),
                };
                let answer = node.ops.put("/v1/admin/events/sale", &body).await;
                let status = if answer.status == 201 { 201 } else { status };
                assert_eq!(answer.status, status, "{name}: {value}: {answer:?}");
            }
        }
    }
    assert_eq!(bounded, 6, "the fields that have bounds");
}
