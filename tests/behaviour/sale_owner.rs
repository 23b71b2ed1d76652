//! Who may see, let go and confirm a reservation.

use tests::client::Client;
use tests::keys::{OPS_TOKEN, SERVICE_TOKEN};
use tests::ledger::Stock;
use tests::sale::{confirm, new_key, single};

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_is_its_owners_alone() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    node.on_sale("other", 10).await;
    let id = node.buyer("sale", "ada").hold(&sector).await;
    // The same name at another event is another person.
    for stranger in [node.buyer("sale", "bob"), node.buyer("other", "ada")] {
        let unknown = stranger.get(&new_key()).await;
        let seen = stranger.get(&id).await;
        seen.expect_problem(404, "not_found");
        assert_eq!(seen.text, unknown.text);
        stranger.cancel(&id).await.expect_problem(404, "not_found");
    }
    for nobody in [node.public.clone(), node.public.with_bearer(SERVICE_TOKEN)] {
        let path = format!("/v1/reservations/{id}");
        nobody.get(&path).await.expect_problem(401, "invalid_token");
        nobody.delete(&path).await.expect_problem(401, "invalid_token");
    }
    assert_eq!(node.ledger.state(&id).await, "held");
    // Another admission of the same person will do.
    node.buyer("sale", "ada").get(&id).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_outlives_the_admission_by_its_own_token() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let reserved = ada.reserve_one(&sector).await.expect(201);
    let (id, other) = (reserved.str("id"), ada.hold(&sector).await);
    // Without any admission from here on.
    let holder = node.with_token(reserved.str("reservation_token"));

    assert_eq!(holder.get(&id).await.expect(200).text, reserved.text);
    holder.get(&other).await.expect_problem(404, "not_found");
    holder.cancel(&other).await.expect_problem(404, "not_found");
    holder.reserve_one(&sector).await.expect_problem(401, "invalid_token");
    confirm(&holder.client, &id, "key").await.expect_problem(401, "invalid_token");
    assert_eq!(holder.cancel(&id).await.expect(200).str("state"), "cancelled");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 9, 1, 0));
    assert_eq!(node.ledger.state(&other).await, "held");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_reservation_token_is_none() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let reserved = node.buyer("sale", "ada").reserve_one(&sector).await.expect(201);
    let (id, token) = (reserved.str("id"), reserved.str("reservation_token"));
    let parts: Vec<&str> = token.split('.').collect();
    for forged in [
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}.{}", parts[0], parts[1], "A".repeat(parts[2].len())),
        token[..token.len() - 4].to_owned(),
    ] {
        node.with_token(forged.clone()).get(&id).await.expect_problem(401, "invalid_token");
        node.with_token(forged).cancel(&id).await.expect_problem(401, "invalid_token");
    }
    assert_eq!(node.ledger.state(&id).await, "held");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_shops_service_confirms() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let reserved = buyer.reserve_one(&sector).await.expect(201);
    let id = reserved.str("id");
    let wrong = ["service-token-of-the-testz", OPS_TOKEN, "", &reserved.str("reservation_token")];
    let mut clients: Vec<Client> = wrong.map(|token| node.public.with_bearer(token)).to_vec();
    clients.extend([node.public.clone(), buyer.client.clone()]);
    for client in clients {
        confirm(&client, &id, "key").await.expect_problem(401, "invalid_token");
    }
    assert_eq!(node.ledger.state(&id).await, "held");
    let without_key = buyer.service.post(&format!("/v1/reservations/{id}/confirm")).await;
    without_key.expect_problem(400, "idempotency_key_missing");
    buyer.confirm(&id).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_about_one_person_are_kept_by_no_cache() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let reserved = buyer.reserve_one(&sector).await.expect(201);
    let id = reserved.str("id");
    let read = buyer.get(&id).await.expect(200);
    let confirmed = buyer.confirm(&id).await.expect(200);
    let refused = buyer.cancel(&id).await.expect(409);
    for answer in [reserved, read, confirmed, refused] {
        assert_eq!(answer.header("cache-control"), "no-store", "{answer:?}");
        assert!(!answer.header("x-request-id").is_empty(), "{answer:?}");
    }
}
