//! One key, one outcome.

use futures::future::join_all;
use serde_json::json;
use tests::client::Answer;
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{Buyer, all_at_once, count, new_key, pair, single};

/// One 201, the rest replays of it to the byte.
fn assert_one_outcome(answers: &[Answer]) {
    assert_eq!(count(answers, 201), 1);
    assert_eq!(count(answers, 200), answers.len() - 1);
    for answer in answers {
        assert_eq!(answer.text, answers[0].text);
        let replayed = if answer.status == 200 { "true" } else { "" };
        assert_eq!(answer.header("idempotent-replayed"), replayed, "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_again_gets_the_same_answer_and_has_no_effect() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let first = buyer.reserve(&sector, 2, "key").await.expect(201);
    let again = buyer.reserve(&sector, 2, "key").await.expect(200);
    assert_one_outcome(&[first, again]);
    assert_eq!(node.ledger.rows("reservations").await, 1);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 8, 2, 0));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_with_one_key_are_one_reservation() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyers = vec![node.buyer("sale", "ada"); 50];
    let answers = all_at_once(&buyers, |buyer| {
        let sector = sector.clone();
        async move { buyer.reserve(&sector, 2, "key").await }
    })
    .await;
    assert_one_outcome(&answers);
    assert_eq!(node.ledger.rows("reservations").await, 1);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 8, 2, 0));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_with_one_key_at_two_instances_are_one_reservation() {
    for lease in ["on", "off"] {
        let (one, two) = pair(&["--sector-lease", lease]).await;
        let sector = one.on_sale("sale", 10).await;
        let mut buyers = vec![one.buyer("sale", "ada"); 25];
        buyers.extend(vec![buyers[0].at(&two); 25]);
        let answers = all_at_once(&buyers, |buyer| {
            let sector = sector.clone();
            async move { buyer.reserve(&sector, 2, "key").await }
        })
        .await;
        assert_one_outcome(&answers);
        assert_eq!(one.ledger.rows("reservations").await, 1);
        assert_eq!(one.ledger.stock(&sector).await, Stock::of(10, 8, 2, 0));
        one.assert_consistent("sale").await;
    }
}

/// Both have seen that the key is not decided, and stand at the first of their writes.
#[tokio::test(flavor = "multi_thread")]
async fn two_instances_that_are_both_about_to_decide_a_key_give_it_one_outcome() {
    let (one, two) = pair(&["--sector-lease", "off"]).await;
    let sector = one.on_sale("sale", 10).await;
    let ada = one.buyer("sale", "ada");
    ada.hold(&sector).await;
    let elsewhere = ada.at(&two);
    let her_total = "SELECT FROM user_totals WHERE sub = 'ada' FOR UPDATE";
    let gate = Gate::at(&one.ledger, her_total).await;
    let open = async {
        gate.until_waiting(2).await;
        gate.open().await;
    };
    let orders = (ada.reserve(&sector, 1, "key"), elsewhere.reserve(&sector, 1, "key"));
    let (here, there, ()) = tokio::join!(orders.0, orders.1, open);
    assert_one_outcome(&[here, there]);
    assert_eq!(one.ledger.rows("reservations").await, 2);
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(10, 8, 2, 0));
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_for_two_orders_at_once_is_one_of_them() {
    let node = single(&[]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[100, 100]).await;
    for round in 0..10 {
        let (buyer, key) = (node.buyer("sale", &format!("person-{round}")), new_key());
        // Requests for another sector do not stand in line behind one another.
        let orders = (0..20).map(|n| buyer.reserve(&sectors[n % 2], 1, &key));
        let answers = join_all(orders).await;
        assert_eq!(count(&answers, 422), 10, "{answers:?}");
        for refused in answers.iter().filter(|answer| answer.status == 422) {
            refused.expect_problem(422, "idempotency_key_reused");
        }
        let had: Vec<Answer> = answers.into_iter().filter(|answer| answer.status < 300).collect();
        assert_one_outcome(&had);
    }
    assert_eq!(node.ledger.rows("reservations").await, 10);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_at_once_with_one_key_for_what_is_sold_out_all_hear_so() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 1).await;
    let buyers = vec![node.buyer("sale", "ada"); 50];
    let answers = all_at_once(&buyers, |buyer| {
        let sector = sector.clone();
        async move { buyer.reserve(&sector, 2, "key").await }
    })
    .await;
    for answer in &answers {
        answer.expect_problem(409, "sold_out");
        assert_eq!(answer.text, answers[0].text);
    }
    assert_eq!(node.ledger.rows("idempotency_keys").await, 1);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(1, 1, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_for_something_else_is_refused() {
    let node = single(&[]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10, 10]).await;
    let (first, second) = (sectors[0].as_str(), sectors[1].as_str());
    let buyer = node.buyer("sale", "ada");
    buyer.reserve(first, 1, "key").await.expect(201);
    for other in [
        buyer.reserve(first, 2, "key").await,
        buyer.reserve(second, 1, "key").await,
        buyer.reserve_items(&[(first, 1), (second, 1)], "key").await,
    ] {
        other.expect_problem(422, "idempotency_key_reused");
    }
    // The other form of the same request is the same request.
    buyer.reserve_items(&[(first, 1)], "key").await.expect(200);
    assert_eq!(node.ledger.rows("reservations").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_quotes_is_the_same_key() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let bare = buyer.reserve(&sector, 1, "abc").await.expect(201);
    let quoted = buyer.reserve(&sector, 1, "\"abc\"").await.expect(200);
    assert_one_outcome(&[bare, quoted]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_repeated_as_it_was_even_when_there_is_stock_again() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 1).await;
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    let id = ada.hold(&sector).await;
    let refused = bob.reserve(&sector, 1, "key").await;
    refused.expect_problem(409, "sold_out");
    ada.cancel(&id).await.expect(200);

    let again = bob.reserve(&sector, 1, "key").await;
    again.expect_problem(409, "sold_out");
    assert_eq!(again.text, refused.text);
    assert_eq!(again.header("idempotent-replayed"), "true");
    bob.reserve(&sector, 1, "another-key").await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_stays_the_answer_after_the_reservation_has_moved_on() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let first = buyer.reserve(&sector, 1, "key").await.expect(201);
    buyer.cancel(&first.str("id")).await.expect(200);
    let again = buyer.reserve(&sector, 1, "key").await.expect(200);
    assert_one_outcome(&[first, again]);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 10, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_belongs_to_one_person_and_one_event() {
    let node = single(&[]).await;
    let (here, there) = (node.on_sale("here", 10).await, node.on_sale("there", 10).await);
    let requests: [(Buyer, &str); 3] = [
        (node.buyer("here", "ada"), &here),
        (node.buyer("here", "bob"), &here),
        (node.buyer("there", "ada"), &there),
    ];
    for (buyer, sector) in &requests {
        buyer.reserve(sector, 1, "key").await.expect(201);
    }
    assert_eq!(node.ledger.rows("reservations").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_is_repeated_by_its_key_and_a_key_confirms_one_reservation() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let (first, second) = (buyer.hold(&sector).await, buyer.hold(&sector).await);
    let key = new_key();
    let confirmed = buyer.confirm_with(&first, &key).await.expect(200);
    let again = buyer.confirm_with(&first, &key).await.expect(200);
    assert_eq!(again.text, confirmed.text);
    assert_eq!(again.header("idempotent-replayed"), "true");
    buyer.confirm_with(&second, &key).await.expect_problem(422, "idempotency_key_reused");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 8, 1, 1));
    node.assert_consistent("sale").await;
}
