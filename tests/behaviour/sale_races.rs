//! Confirming, cancelling and expiring at the same moment: a hold leaves `held` once.

use std::time::Duration;

use futures::future::join_all;
use tests::client::Answer;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode, pair};
use tokio::sync::Barrier;

const WORKERS: u32 = 4;

/// Runs `round` so many times, a few at once.
async fn rounds(rounds: u32, round: impl AsyncFn(u32)) {
    let worker = async |first: u32| {
        for n in (first..rounds).step_by(WORKERS as usize) {
            round(n).await;
        }
    };
    join_all((0..WORKERS).map(worker)).await;
}

/// Two calls, sent at the same moment.
async fn together<A, B>(one: impl Future<Output = A>, two: impl Future<Output = B>) -> (A, B) {
    let start = Barrier::new(2);
    tokio::join!(
        async {
            start.wait().await;
            one.await
        },
        async {
            start.wait().await;
            two.await
        },
    )
}

/// Asserts that the stock is right after as many places were sold as there are confirmations.
async fn assert_sold(node: &CheckoutNode, sector: &str, capacity: i32, sold: i32) {
    let stock = node.ledger.stock(sector).await;
    assert_eq!(stock, Stock::of(capacity, capacity - sold, 0, sold));
    node.assert_consistent("sale").await;
}

async fn confirmed_at_expiry(buyer: &Buyer, sector: &str, node: &CheckoutNode, n: u32) -> bool {
    let id = buyer.hold(sector).await;
    // The first of eleven is always too late, the last always in time, the others a race.
    let after = match n % 11 {
        10 => Duration::from_secs(600),
        early => Duration::from_micros(u64::from(early) * 700),
    };
    // Half of the time the hold's end is set beforehand, half of the time at the same moment.
    let answer = if n.is_multiple_of(2) {
        node.ledger.expire_after(&id, after).await;
        buyer.confirm(&id).await
    } else {
        together(buyer.confirm(&id), expire_unless_confirmed(node, &id, after)).await.0
    };
    if answer.status == 200 {
        assert_eq!(answer.str("state"), "confirmed");
        assert_eq!(node.ledger.state(&id).await, "confirmed");
        true
    } else {
        answer.expect_problem(410, "hold_expired");
        node.ledger.becomes(&id, "expired").await;
        false
    }
}

async fn expire_unless_confirmed(node: &CheckoutNode, id: &str, after: Duration) {
    sqlx::query(
        "UPDATE reservations SET expires_at = now() + make_interval(secs => $2)
         WHERE reservation_id = $1::uuid AND state = 'held'",
    )
    .bind(id)
    .bind(after.as_secs_f64())
    .execute(node.ledger.pool())
    .await
    .expect("the hold's end is set");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_is_confirmed_as_it_expires_is_either_sold_or_back() {
    let (one, two) = pair(&["--sweep-interval-ms", "10"]).await;
    let sector = one.on_sale("sale", 200).await;
    let sold = std::sync::atomic::AtomicI32::new(0);
    rounds(200, async |n| {
        let node = if n % 4 < 2 { &one } else { &two };
        let buyer = node.buyer("sale", &format!("person-{n}"));
        if confirmed_at_expiry(&buyer, &sector, node, n).await {
            sold.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    })
    .await;
    let sold = sold.into_inner();
    assert!((1..200).contains(&sold), "{sold} of 200 sold: one side never won");
    assert_sold(&one, &sector, 200, sold).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_is_confirmed_and_cancelled_at_once_is_either_sold_or_back() {
    let (one, two) = pair(&[]).await;
    let sector = one.on_sale("sale", 100).await;
    let sold = std::sync::atomic::AtomicI32::new(0);
    rounds(100, async |n| {
        let buyer = one.buyer("sale", &format!("person-{n}"));
        let id = buyer.hold(&sector).await;
        let elsewhere = buyer.at(&two);
        let (confirmed, cancelled): (Answer, Answer) = if n.is_multiple_of(2) {
            together(buyer.confirm(&id), elsewhere.cancel(&id)).await
        } else {
            together(elsewhere.confirm(&id), buyer.cancel(&id)).await
        };
        if confirmed.status == 200 {
            cancelled.expect_problem(409, "invalid_transition");
            assert_eq!(one.ledger.state(&id).await, "confirmed");
            sold.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        } else {
            confirmed.expect_problem(410, "hold_expired");
            assert_eq!(cancelled.expect(200).str("state"), "cancelled");
            assert_eq!(one.ledger.state(&id).await, "cancelled");
        }
    })
    .await;
    assert_sold(&one, &sector, 100, sold.into_inner()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_that_is_cancelled_twenty_times_at_once_gives_its_place_back_once() {
    let (one, two) = pair(&[]).await;
    let sector = one.on_sale("sale", 10).await;
    let buyer = one.buyer("sale", "ada");
    let other = one.buyer("sale", "bob");
    for _ in 0..10 {
        // Without this one, a place given back twice would break a CHECK instead of the count.
        let kept = other.hold(&sector).await;
        let id = buyer.hold(&sector).await;
        let elsewhere = buyer.at(&two);
        let cancels = (0..20).map(|n| if n % 2 == 0 { &buyer } else { &elsewhere }.cancel(&id));
        for answer in join_all(cancels).await {
            assert_eq!(answer.expect(200).str("state"), "cancelled");
        }
        assert_eq!(one.ledger.stock(&sector).await, Stock::of(10, 9, 1, 0));
        other.cancel(&kept).await.expect(200);
    }
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn holds_that_end_while_two_instances_sweep_give_their_places_back_once() {
    let (one, two) = pair(&["--sweep-interval-ms", "10"]).await;
    let sector = one.on_sale("sale", 300).await;
    let buyers: Vec<Buyer> = (0..200).map(|n| one.buyer("sale", &format!("p{}", n % 60))).collect();
    let mut ids = Vec::new();
    for chunk in buyers.chunks(50) {
        ids.extend(join_all(chunk.iter().map(|buyer| buyer.hold(&sector))).await);
    }
    let (ended, kept) = ids.split_at(150);
    // All of them at once, in one statement, so that both sweepers come upon the same batch.
    sqlx::query(
        "UPDATE reservations SET expires_at = now() + interval '20 milliseconds'
         WHERE reservation_id = ANY ($1::text[]::uuid[])",
    )
    .bind(ended)
    .execute(one.ledger.pool())
    .await
    .expect("the holds' end is set");
    for id in ended {
        one.ledger.becomes(id, "expired").await;
    }
    let kept = i32::try_from(kept.len()).expect("few");
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(300, 300 - kept, kept, 0));
    for node in [&one, &two] {
        node.assert_consistent("sale").await;
    }
}
