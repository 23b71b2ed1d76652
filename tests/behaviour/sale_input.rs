//! Bad input is refused with a problem, and nothing is written.

use reqwest::Method;
use serde_json::{Value, json};
use tests::client::{Answer, send};
use tests::sale::{Buyer, CheckoutNode, single};

struct Shop {
    node: CheckoutNode,
    buyer: Buyer,
    sector: String,
}

async fn shop() -> Shop {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    Shop { node, buyer, sector }
}

impl Shop {
    async fn send_text(&self, text: &str, content_type: &str) -> Answer {
        let request = self.buyer.client.request(Method::POST, "/v1/reservations");
        let request = request.header("idempotency-key", "key").body(text.to_owned());
        send(request.header("content-type", content_type)).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_no_order_are_refused() {
    let shop = shop().await;
    let sector = &shop.sector;
    let long = "x".repeat(10_000);
    for body in [
        json!(null),
        json!([]),
        json!("order"),
        json!({}),
        json!({"sector_id": sector}),
        json!({"quantity": 1}),
        json!({"sector_id": 1, "quantity": 1}),
        json!({"sector_id": null, "quantity": 1}),
        json!({"sector_id": "stalls", "quantity": 1}),
        json!({"sector_id": long, "quantity": 1}),
        json!({"sector_id": sector, "quantity": "1"}),
        json!({"sector_id": sector, "quantity": 1.5}),
        json!({"sector_id": sector, "quantity": true}),
        json!({"sector_id": sector, "quantity": [1]}),
        json!({"sector_id": sector, "quantity": u64::MAX}),
        json!({"sector_id": sector, "quantity": 1, "price": 0}),
        json!({"sector_id": sector, "quantity": 1, "event": "sale"}),
        json!({"sector_id": sector, "quantity": 1, "items": []}),
        json!({"sector_id": sector, "quantity": 1, "items": [{"sector_id": sector, "quantity": 1}]}),
        json!({"items": []}),
        json!({"items": {}}),
        json!({"items": [1]}),
        json!({"items": [{"sector_id": sector}]}),
        json!({"items": [{"sector_id": sector, "quantity": 1, "price": 0}]}),
        json!({"items": vec![json!({"sector_id": sector, "quantity": 1}); 21]}),
    ] {
        let answer = shop.buyer.reserve_body(&body, "key").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_request"), "{body}");
        answer.expect_problem(400, "invalid_request");
    }
    for text in ["", "{", "order", "{\"sector_id\": }", "\u{feff}{}", "[[[[[[[[", "{}{}", "\0"] {
        let answer = shop.send_text(text, "application/json").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_request"), "{text:?}");
    }
    shop.node.ledger.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn quantities_that_nobody_can_buy_are_refused() {
    let shop = shop().await;
    let quantities = [
        json!(0),
        json!(-1),
        json!(5),
        json!(2_147_483_647),
        json!(2_147_483_648_i64),
        json!(i64::MAX),
        json!(i64::MIN),
    ];
    for quantity in &quantities {
        let line = json!({"sector_id": shop.sector, "quantity": quantity});
        for body in [line.clone(), json!({"items": [line]})] {
            let answer = shop.buyer.reserve_body(&body, "key").await;
            let found = (answer.status, answer.code());
            assert_eq!(found, (422, "invalid_quantity".to_owned()), "{body}");
            answer.expect_problem(422, "invalid_quantity");
        }
    }
    // Each line is allowed, and their sum is not; nor does a negative one make room.
    for lines in [[3, 3], [5, -1], [i64::MAX, i64::MAX]] {
        let items = lines.map(|quantity| (shop.sector.as_str(), quantity));
        let answer = shop.buyer.reserve_items(&items, "key").await;
        answer.expect_problem(422, "invalid_quantity");
    }
    shop.node.ledger.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_none_are_refused() {
    let shop = shop().await;
    let body = json!({"sector_id": shop.sector, "quantity": 1});
    let post = || shop.buyer.client.request(Method::POST, "/v1/reservations").json(&body);
    send(post()).await.expect_problem(400, "idempotency_key_missing");
    let long = "x".repeat(256);
    let bad: [&[u8]; 9] = [
        b"",
        b" ",
        b"\"\"",
        b"\"",
        b"a b",
        b"\"open",
        long.as_bytes(),
        "schlüssel".as_bytes(),
        b"\xff\xfe",
    ];
    for key in bad {
        let answer = send(post().header("idempotency-key", key)).await;
        let found = (answer.status, answer.code());
        assert_eq!(found, (400, "invalid_request".to_owned()), "{key:?}");
        answer.expect_problem(400, "invalid_request");
    }
    let two = post().header("idempotency-key", "a").header("idempotency-key", "b");
    send(two).await.expect_problem(400, "invalid_request");
    shop.node.ledger.assert_untouched().await;

    let longest = "x".repeat(255);
    shop.buyer.reserve_body(&body, &longest).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_too_large_or_of_another_kind_are_refused() {
    let shop = shop().await;
    let order = json!({"sector_id": shop.sector, "quantity": 1}).to_string();
    for large in [" ".repeat(1 << 20), format!("{order}{}", " ".repeat(1 << 20))] {
        let answer = shop.send_text(&large, "application/json").await;
        answer.expect_problem(413, "payload_too_large");
    }
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""] {
        let answer = shop.send_text(&order, content_type).await;
        answer.expect_problem(415, "unsupported_media_type");
    }
    shop.node.ledger.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_too_much_hears_so_and_is_not_cut_off_before() {
    let shop = shop().await;
    // A connection that is closed on unread bytes takes the answer with it: not always, but often.
    for _ in 0..300 {
        let answer = shop.send_text(&" ".repeat(1 << 20), "application/json").await;
        answer.expect_problem(413, "payload_too_large");
    }
    shop.node.ledger.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_that_name_nothing_are_refused() {
    let shop = shop().await;
    let service = &shop.buyer.service;
    let confirm = async |id: &str| tests::sale::confirm(service, id, "key").await;
    for id in ["%ff", "not-a-uuid", "0190a6a0", "%00", "..%2f..%2fetc"] {
        shop.buyer.get(id).await.expect_problem(400, "invalid_request");
        shop.buyer.cancel(id).await.expect_problem(400, "invalid_request");
        confirm(id).await.expect_problem(400, "invalid_request");
    }
    let unknown = tests::sale::new_key();
    shop.buyer.get(&unknown).await.expect_problem(404, "not_found");
    shop.buyer.cancel(&unknown).await.expect_problem(404, "not_found");
    confirm(&unknown).await.expect_problem(404, "not_found");
    for (method, path, status, code) in [
        (Method::GET, "/v1/events/%ff/sectors", 400, "invalid_request"),
        (Method::GET, "/v1/events/SALE/sectors", 400, "invalid_request"),
        (Method::GET, "/v1/events/none/sectors", 404, "not_found"),
        (Method::GET, "/nowhere", 404, "not_found"),
        (Method::PUT, "/v1/reservations", 405, "method_not_allowed"),
    ] {
        send(shop.node.public.request(method, path)).await.expect_problem(status, code);
    }
    shop.node.ledger.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_refusal_tells_what_is_inside() {
    let shop = shop().await;
    let quote = json!({"sector_id": "'; DROP TABLE events; --", "quantity": 1});
    let answers = [
        shop.buyer.reserve_body(&quote, "key").await,
        shop.buyer.reserve_body(&json!({"sector_id": 1}), "key").await,
        shop.send_text("{", "application/json").await,
        shop.buyer.get("%ff").await,
    ];
    for answer in answers {
        assert_eq!(answer.status, 400);
        for secret in ["sqlx", "SELECT", "postgres", "src/", ".rs", "checkout::"] {
            assert!(!answer.text.contains(secret), "{}", answer.text);
        }
    }
    let sectors: Vec<Value> = shop.node.sectors("sale").await;
    assert_eq!(sectors.len(), 1);
}
