//! Postgres crashes, hangs and comes back: nothing that was promised is lost.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Instant;

use futures::future::join_all;
use local::stores::Postgres;
use tests::client::Answer;
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode};
use tests::{stores, wait};

async fn node_on(postgres: &Postgres) -> CheckoutNode {
    let database = stores::database_in(postgres).await;
    CheckoutNode::start(&database, &stores::redis_url().await, &[]).await
}

/// Asserts that the caller is told to come back.
fn assert_told_to_come_back(answer: &Answer) {
    answer.expect_problem(503, "unavailable");
    let seconds: u64 = answer.header("retry-after").parse().expect("whole seconds");
    assert!(seconds >= 1);
}

/// Sends the same request until it is decided, as a client should.
async fn insist(buyer: &Buyer, sector: &str, refused: &Mutex<u32>) -> Answer {
    wait::until("a decision", async || {
        let answer = buyer.reserve(sector, 1, "key").await;
        match answer.status {
            200 | 201 => Some(answer),
            409 => {
                answer.expect_problem(409, "sold_out");
                Some(answer)
            }
            _ => {
                assert_told_to_come_back(&answer);
                *refused.lock().expect("no panic") += 1;
                None
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_of_postgres_in_the_rush_loses_and_doubles_nothing() {
    let mut postgres = stores::postgres_with_template(&stores::scratch()).await;
    let database = stores::database_in(&postgres).await;
    let redis = stores::redis_url().await;
    let one = CheckoutNode::start(&database, &redis, &[]).await;
    let two = CheckoutNode::start(&database, &redis, &[]).await;
    let sector = one.on_sale("sale", 200).await;
    let (acknowledged, refused) = (Mutex::new(HashSet::new()), Mutex::new(0));
    let (promised, turned_away) =
        (|| acknowledged.lock().expect("no panic").len(), || *refused.lock().expect("no panic"));

    let crash = async {
        wait::until("some places to be sold", async || (promised() >= 40).then_some(())).await;
        postgres.kill().await.expect("Postgres is killed");
        let before = promised();
        wait::until("somebody to be turned away", async || (turned_away() > 0).then_some(())).await;
        postgres.restart().await.expect("Postgres starts again");
        before
    };
    let people: Vec<Buyer> = (0..300)
        .map(|n| if n % 2 == 0 { &one } else { &two }.buyer("sale", &format!("person-{n}")))
        .collect();
    // Thirty at a time, so that there is a crowd before, during and after.
    let lines = join_all(people.chunks(10).map(async |line| {
        for buyer in line {
            let answer = insist(buyer, &sector, &refused).await;
            if answer.status != 409 {
                let is_new = acknowledged.lock().expect("no panic").insert(answer.str("id"));
                assert!(is_new, "two people have one reservation");
            }
        }
    }));
    let (before, _) = tokio::join!(crash, lines);
    assert!(before < 200, "the crash came after the rush");

    let acknowledged = acknowledged.into_inner().expect("no panic");
    assert_eq!(acknowledged.len(), 200);
    let stored: Vec<String> = sqlx::query_scalar("SELECT reservation_id::text FROM reservations")
        .fetch_all(one.ledger.pool())
        .await
        .expect("the reservations");
    assert_eq!(stored.len(), 200);
    assert!(stored.iter().all(|id| acknowledged.contains(id)));
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(200, 0, 200, 0));
    one.assert_consistent("sale").await;
}

/// A batch has written everything but the stock when Postgres ends, by a crash or in order.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_postgres_ends_in_the_middle_of_is_decided_once_all_the_same() {
    for crash in [true, false] {
        let mut postgres = stores::postgres_with_template(&stores::scratch()).await;
        let node = node_on(&postgres).await;
        let sector = node.on_sale("sale", 30).await;
        let people = node.crowd("sale", 40);
        let gate = Gate::shut(&node.ledger, &sector).await;
        let refused = Mutex::new(0);
        let orders = join_all(people.iter().map(|buyer| insist(buyer, &sector, &refused)));
        let restart = async {
            gate.until_waiting(1).await;
            let ended = if crash { postgres.kill().await } else { postgres.stop().await };
            ended.expect("Postgres ends");
            drop(gate);
            postgres.restart().await.expect("Postgres starts again");
        };
        let (answers, ()) = tokio::join!(orders, restart);
        let sold = answers.iter().filter(|answer| answer.status != 409);
        let ids: HashSet<String> = sold.map(|answer| answer.str("id")).collect();
        assert_eq!(ids.len(), 30);
        assert_eq!(node.ledger.rows("reservations").await, 30);
        assert_eq!(node.ledger.stock(&sector).await, Stock::of(30, 0, 30, 0));
        node.assert_consistent("sale").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_postgres_everybody_is_told_to_come_back_and_when_it_is_there_all_goes_on() {
    let mut postgres = stores::postgres_with_template(&stores::scratch()).await;
    let node = node_on(&postgres).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    let id = buyer.reserve(&sector, 1, "before").await.expect(201).str("id");
    postgres.stop().await.expect("Postgres stops");

    for answer in [
        buyer.reserve(&sector, 1, "meanwhile").await,
        buyer.reserve(&sector, 1, "before").await,
        buyer.get(&id).await,
        buyer.cancel(&id).await,
        buyer.confirm(&id).await,
    ] {
        assert_told_to_come_back(&answer);
    }
    assert_eq!(node.public.get("/readyz").await.status, 503);
    assert_eq!(node.public.get("/healthz").await.status, 200);
    assert_eq!(node.ops.get("/metrics").await.status, 200);

    postgres.restart().await.expect("Postgres starts again");
    wait::until("the checkout to be ready again", async || {
        (node.public.get("/readyz").await.status == 200).then_some(())
    })
    .await;
    buyer.reserve(&sector, 1, "meanwhile").await.expect(201);
    buyer.reserve(&sector, 1, "before").await.expect(200);
    buyer.confirm(&id).await.expect(200);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(10, 8, 1, 1));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_hangs_keeps_nobody_waiting_for_ever() {
    let postgres = stores::postgres_with_template(&stores::scratch()).await;
    let node = node_on(&postgres).await;
    let sector = node.on_sale("sale", 40).await;
    let people = node.crowd("sale", 40);
    people[0].reserve(&sector, 1, "key").await.expect(201);

    postgres.pause().expect("Postgres hangs");
    let started = Instant::now();
    let answers = join_all(people[1..].iter().map(|buyer| buyer.reserve(&sector, 1, "key"))).await;
    let seconds = started.elapsed().as_secs_f64();
    postgres.resume().expect("Postgres goes on");
    answers.iter().for_each(assert_told_to_come_back);
    assert!(seconds < 15.0, "{seconds} s");

    let refused = Mutex::new(0);
    let answers = join_all(people.iter().map(|buyer| insist(buyer, &sector, &refused))).await;
    let ids: HashSet<String> = answers.iter().map(|answer| answer.str("id")).collect();
    assert_eq!(ids.len(), 40);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(40, 0, 40, 0));
    assert_eq!(node.ledger.rows("reservations").await, 40);
    node.assert_consistent("sale").await;
}
