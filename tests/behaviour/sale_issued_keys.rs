//! Idempotency keys that the service makes.

use serde_json::json;
use tests::sale::{Buyer, new_key, pair, single};

async fn issued(buyer: &Buyer) -> String {
    let answer = buyer.client.post("/v1/idempotency-keys").await.expect(201);
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(!answer.str("expires_at").is_empty(), "{answer:?}");
    answer.str("idempotency_key")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_service_is_taken_at_every_instance_from_its_person_alone() {
    let (one, two) = pair(&["--idempotency-keys", "server"]).await;
    let sector = one.on_sale("sale", 10).await;
    one.on_sale("other", 10).await;
    let (ada, bob) = (one.buyer("sale", "ada"), one.buyer("sale", "bob"));
    let key = issued(&ada).await;
    assert_ne!(key, issued(&ada).await);
    let first = ada.at(&two).reserve(&sector, 1, &key).await.expect(201);
    let again = ada.reserve(&sector, 1, &format!("\"{key}\"")).await.expect(200);
    assert_eq!(again.text, first.text);
    for (buyer, key) in [
        (&bob, key.as_str()),
        (&ada, &new_key()),
        (&ada, &key[..key.len() - 1]),
        (&ada, &issued(&one.buyer("other", "ada")).await),
    ] {
        buyer.reserve(&sector, 1, key).await.expect_problem(400, "invalid_request");
    }
    assert_eq!(one.ledger.rows("idempotency_keys").await, 1);
    // The shop's service makes its own.
    ada.confirm(&first.str("id")).await.expect(200);
    one.public.post("/v1/idempotency-keys").await.expect_problem(401, "invalid_token");
}

#[tokio::test(flavor = "multi_thread")]
async fn both_kinds_of_keys_are_taken_unless_the_operator_says_otherwise() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    let key = issued(&ada).await;
    ada.reserve(&sector, 1, &key).await.expect(201);
    ada.reserve(&sector, 1, &new_key()).await.expect(201);
    bob.reserve(&sector, 1, &key).await.expect_problem(400, "invalid_request");

    let node = single(&["--idempotency-keys", "client"]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    ada.client.post("/v1/idempotency-keys").await.expect_problem(404, "not_found");
    ada.reserve(&sector, 1, &new_key()).await.expect(201);
    let body = json!({"sector_id": sector, "quantity": 1});
    ada.reserve_body(&body, "s1.anything").await.expect(201);
}
