//! Two transactions that are both about to take a hold out of `held`: stopped just before that write,
//! with their view of the hold, and let go together. (The same races, unstopped and many times:
//! `sale_races`. Without the guards: `sale_control_holds`.)

use std::time::Duration;

use futures::future::join_all;
use reqwest::Method;
use tests::client::{Answer, send};
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode, new_key, pair};

const ROUNDS: i32 = 6;
const SWEEPING: [&str; 2] = ["--sweep-interval-ms", "10"];
const SLEEPING: [&str; 2] = ["--sweep-interval-ms", "3600000"];

async fn shut(node: &CheckoutNode) -> Gate {
    Gate::trigger(&node.ledger, "BEFORE UPDATE ON reservations").await
}

/// Asks until there is a decision: on a busy machine a second at the gate may pass before both are there.
async fn insist(call: impl AsyncFn() -> Answer) -> Answer {
    loop {
        let answer = call().await;
        if answer.status != 503 {
            return answer;
        }
    }
}

/// The call stands at the gate, then the hold's time passes, the sweeper comes to the gate too, and both
/// are let go.
async fn at_expiry(node: &CheckoutNode, id: &str, call: impl AsyncFn() -> Answer) -> Answer {
    let gate = shut(node).await;
    let open = async {
        gate.until_waiting(1).await;
        node.ledger.expire_after(id, Duration::ZERO).await;
        gate.until_waiting(2).await;
        gate.open().await;
    };
    tokio::join!(insist(call), open).0
}

/// Somebody with a hold that is to be raced for, beside one that is not: without it, a place given back
/// twice would break a CHECK instead of the count.
async fn with_holds(node: &CheckoutNode, sector: &str, n: i32) -> (Buyer, String) {
    let buyer = node.buyer("sale", &format!("person-{n}"));
    buyer.hold(sector).await;
    let id = buyer.hold(sector).await;
    (buyer, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_and_the_sweeper_do_not_both_take_a_hold() {
    let (one, _two) = pair(&SWEEPING).await;
    let sector = one.on_sale("sale", 100).await;
    let mut sold = 0;
    for n in 0..ROUNDS {
        let (buyer, id) = with_holds(&one, &sector, n).await;
        let key = new_key();
        let answer = at_expiry(&one, &id, async || buyer.confirm_with(&id, &key).await).await;
        if answer.status == 200 {
            sold += 1;
            assert_eq!(one.ledger.state(&id).await, "confirmed");
        } else {
            answer.expect_problem(410, "hold_expired");
            one.ledger.becomes(&id, "expired").await;
        }
        let kept = n + 1;
        let left = 100 - kept - sold;
        assert_eq!(one.ledger.stock(&sector).await, Stock::of(100, left, kept, sold));
    }
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn its_owner_and_the_sweeper_do_not_both_give_a_hold_back() {
    let (one, _two) = pair(&SWEEPING).await;
    let sector = one.on_sale("sale", 100).await;
    for n in 0..ROUNDS {
        let (buyer, id) = with_holds(&one, &sector, n).await;
        let answer = at_expiry(&one, &id, async || buyer.cancel(&id).await).await;
        if answer.status == 200 {
            assert_eq!(one.ledger.state(&id).await, "cancelled");
        } else {
            answer.expect_problem(410, "hold_expired");
            one.ledger.becomes(&id, "expired").await;
        }
        let kept = n + 1;
        assert_eq!(one.ledger.stock(&sector).await, Stock::of(100, 100 - kept, kept, 0));
    }
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_is_extended_or_swept_and_not_both() {
    let (one, _two) = pair(&SWEEPING).await;
    let sector = one.on_sale("sale", 100).await;
    let mut extended = 0;
    for n in 0..ROUNDS {
        let (buyer, id) = with_holds(&one, &sector, n).await;
        let (path, key) = (format!("/v1/reservations/{id}/extend"), new_key());
        let extend = async || {
            let request = buyer.client.request(Method::POST, &path);
            send(request.header("idempotency-key", &key)).await
        };
        let answer = at_expiry(&one, &id, extend).await;
        if answer.status == 200 {
            extended += 1;
            assert_eq!(one.ledger.state(&id).await, "held");
        } else {
            answer.expect_problem(410, "hold_expired");
            one.ledger.becomes(&id, "expired").await;
        }
        let held = n + 1 + extended;
        assert_eq!(one.ledger.stock(&sector).await, Stock::of(100, 100 - held, held, 0));
    }
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_and_its_owner_do_not_both_take_a_hold() {
    let (one, two) = pair(&SLEEPING).await;
    let sector = one.on_sale("sale", 100).await;
    let mut sold = 0;
    for n in 0..ROUNDS {
        let (buyer, id) = with_holds(&one, &sector, n).await;
        let (elsewhere, key) = (buyer.at(&two), new_key());
        let gate = shut(&one).await;
        let open = async {
            gate.until_waiting(2).await;
            gate.open().await;
        };
        let (confirmed, cancelled, ()) = tokio::join!(
            insist(async || buyer.confirm_with(&id, &key).await),
            insist(async || elsewhere.cancel(&id).await),
            open
        );
        if confirmed.status == 200 {
            sold += 1;
            cancelled.expect_problem(409, "invalid_transition");
            assert_eq!(one.ledger.state(&id).await, "confirmed");
        } else {
            confirmed.expect_problem(410, "hold_expired");
            assert_eq!(cancelled.expect(200).str("state"), "cancelled");
        }
        let kept = n + 1;
        let left = 100 - kept - sold;
        assert_eq!(one.ledger.stock(&sector).await, Stock::of(100, left, kept, sold));
    }
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sweepers_that_have_seen_the_same_holds_give_them_back_once() {
    let (one, _two) = pair(&SWEEPING).await;
    let sector = one.on_sale("sale", 100).await;
    let people: Vec<Buyer> = (0..10).map(|n| one.buyer("sale", &format!("person-{n}"))).collect();
    let kept = join_all(people.iter().map(|buyer| buyer.hold(&sector))).await.len();
    let ids = join_all(people.iter().map(|buyer| buyer.hold(&sector))).await;
    let gate = shut(&one).await;
    sqlx::query(
        "UPDATE reservations SET expires_at = now() WHERE reservation_id = ANY ($1::uuid[])",
    )
    .bind(ids.iter().map(|id| id.parse().expect("an id")).collect::<Vec<uuid::Uuid>>())
    .execute(one.ledger.pool())
    .await
    .expect("the holds end");
    gate.until_waiting(2).await;
    gate.open().await;
    for id in &ids {
        one.ledger.becomes(id, "expired").await;
    }
    let kept = i32::try_from(kept).expect("few");
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(100, 100 - kept, kept, 0));
    one.assert_consistent("sale").await;
}
