//! The shop is told of every change of a reservation, of each reservation in its order.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde_json::json;
use tests::sale::{all_at_once, new_key, pair, single};
use tests::shop::{Attempt, Reply, Shop};
use tests::wait;

fn kinds_of(attempts: &[Attempt], reservation: &str) -> Vec<String> {
    let of = attempts.iter().filter(|attempt| attempt.reservation() == reservation);
    of.map(Attempt::kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_of_a_reservation_is_told_in_its_order() {
    let shop = Shop::open().await;
    let node = single(&shop.flags()).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10, 10]).await;
    let ada = node.buyer("sale", "ada");
    let sold = ada.hold(&sectors[0]).await;
    let path = format!("/v1/reservations/{sold}/extend");
    let extend = ada.client.request(reqwest::Method::POST, &path);
    let extended = tests::client::send(extend.header("idempotency-key", new_key())).await;
    let extended = extended.expect(200).str("expires_at");
    ada.confirm(&sold).await.expect(200);
    // Done again it is no change.
    ada.confirm(&sold).await.expect(200);
    let basket = ada.reserve_items(&[(&sectors[0], 1), (&sectors[1], 1)], &new_key()).await;
    let basket = basket.expect(201).str("id");
    ada.cancel(&basket).await.expect(200);
    let late = ada.hold(&sectors[1]).await;
    node.ledger.expire_after(&late, Duration::ZERO).await;
    node.ledger.becomes(&late, "expired").await;
    // Refused, and so nothing to tell.
    node.buyer("sale", "bob").reserve(&sectors[0], 4, &new_key()).await.expect(201);
    node.buyer("sale", "bob").reserve(&sectors[0], 1, &new_key()).await.expect(409);

    let taken = shop.until_taken(8).await;
    assert_eq!(kinds_of(&taken, &sold), ["held", "extended", "confirmed"].map(full));
    assert_eq!(kinds_of(&taken, &basket), ["held", "cancelled"].map(full));
    assert_eq!(kinds_of(&taken, &late), ["held", "expired"].map(full));
    assert_eq!(node.ledger.rows("reservation_events").await, 8);
    shop.assert_in_order();

    let of_sold: Vec<&Attempt> = taken.iter().filter(|one| one.reservation() == sold).collect();
    let data = of_sold[2].json()["data"].clone();
    assert_eq!(data["state"], "confirmed");
    assert_eq!((&data["event"], &data["sub"]), (&json!("sale"), &json!("ada")));
    assert_eq!((&data["total"], &data["currency"]), (&json!(1_000), &json!("EUR")));
    let items = json!([{"sector_id": sectors[0], "quantity": 1, "price": 1_000}]);
    assert_eq!(data["items"], items);
    assert_eq!(data["expires_at"], extended);
    assert_eq!(of_sold[1].json()["data"]["expires_at"], extended);
    assert_ne!(of_sold[0].json()["data"]["expires_at"], extended, "as it was then");
}

fn full(kind: &str) -> String {
    format!("reservation.{kind}")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_later_waits_for_the_answer_to_what_came_earlier() {
    let shop = Shop::that(|_| Reply::Late).await;
    let node = single(&shop.flags()).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    shop.until_attempts(1).await;
    ada.cancel(&id).await.expect(200);
    wait::until("the dispatcher to put the second off", async || {
        let put_off: bool = sqlx::query_scalar(
            "SELECT due_at > now() + interval '5 seconds' FROM reservation_events WHERE version = 2",
        )
        .fetch_one(node.ledger.pool())
        .await
        .expect("both are there");
        put_off.then_some(())
    })
    .await;
    assert_eq!(shop.attempts().len(), 1, "it did not wait");
    shop.release();
    shop.until_taken(2).await;
    shop.assert_in_order();
    assert_eq!(kinds_of(&shop.attempts(), &id), ["held", "cancelled"].map(full));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_tell_a_shop_in_trouble_everything_once_and_in_order() {
    // Each third message is refused once, and each fifth another time.
    let shop = Shop::that(|attempt| {
        let number: usize = attempt.text.bytes().map(usize::from).sum();
        let refused = usize::from(number.is_multiple_of(3)) + usize::from(number.is_multiple_of(5));
        Reply::Status(if attempt.number > refused { 200 } else { 503 })
    })
    .await;
    let (one, two) = pair(&shop.flags()).await;
    let sector = one.on_sale("sale", 200).await;
    let crowd = one.crowd("sale", 60);
    let answers = all_at_once(&crowd, |buyer| {
        let sector = sector.clone();
        async move {
            let id = buyer.hold(&sector).await;
            buyer.confirm(&id).await.expect(200)
        }
    })
    .await;
    for (number, answer) in answers.iter().enumerate() {
        // Confirmed, so that this is none.
        crowd[number].at(&two).cancel(&answer.str("id")).await.expect(409);
    }
    let taken = shop.until_taken(120).await;
    shop.assert_in_order();
    let ids: HashSet<String> = taken.iter().map(Attempt::id).collect();
    assert_eq!(
        (taken.len(), ids.len()),
        (120, 120),
        "nobody was killed, and so nothing came twice"
    );
    assert!(shop.attempts().len() > 120, "the shop was in no trouble");
    let mut texts: HashMap<String, String> = HashMap::new();
    for attempt in shop.attempts() {
        let first = texts.entry(attempt.id()).or_insert_with(|| attempt.text.clone());
        assert_eq!(*first, attempt.text, "each attempt is the same text");
    }
}
