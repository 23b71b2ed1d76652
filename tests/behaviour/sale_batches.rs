//! Orders that are written together do not suffer from one another.

use futures::future::join_all;
use serde_json::json;
use tests::client::Answer;
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode, count, pair, single};
use tests::{stores, wait};

/// Everybody asks while the stock is locked, so that all who come after the first are in line when it
/// is let go, and are written together.
async fn together(node: &CheckoutNode, sector: &str, people: &[Buyer]) -> Vec<Answer> {
    let gate = Gate::shut(&node.ledger, sector).await;
    let (first, others) = people.split_first().expect("somebody");
    let first = async { first.reserve(sector, 1, "key").await };
    let others = async {
        gate.until_waiting(1).await;
        let others = others.iter().map(|buyer| buyer.reserve(sector, 1, "key"));
        let open = async {
            tokio::task::yield_now().await;
            gate.open().await;
        };
        tokio::join!(join_all(others), open).0
    };
    let (first, others) = tokio::join!(first, others);
    [vec![first], others].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_poisoned_order_fails_alone() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 100).await;
    sqlx::raw_sql(
        "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NEW.sub = 'mallory' THEN RAISE EXCEPTION 'poisoned'; END IF;
                RETURN NEW;
            END $$;
         CREATE TRIGGER poison BEFORE INSERT ON reservations
            FOR EACH ROW EXECUTE FUNCTION poison();",
    )
    .execute(node.ledger.pool())
    .await
    .expect("the trigger is made");
    let mut people = node.crowd("sale", 40);
    people.insert(20, node.buyer("sale", "mallory"));
    let answers = together(&node, &sector, &people).await;
    for (n, answer) in answers.iter().enumerate() {
        if n == 20 {
            answer.expect_problem(500, "internal");
            assert!(!answer.text.contains("poison"), "{answer:?}");
        } else {
            assert_eq!(answer.status, 201, "{answer:?}");
        }
    }
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(100, 60, 40, 0));
    // Nothing was recorded for it: without the poison it goes well.
    sqlx::raw_sql("DROP TRIGGER poison ON reservations")
        .execute(node.ledger.pool())
        .await
        .expect("the trigger is dropped");
    people[20].reserve(&sector, 1, "key").await.expect(201);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_assumptions_were_overtaken_is_decided_again() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 30).await;
    let people = node.crowd("sale", 20);
    let gate = Gate::shut(&node.ledger, &sector).await;
    // Somebody else, past this instance, takes 25 of the 30 places that the batch has seen, in the
    // transaction for which it waits.
    let orders = join_all(people.iter().map(|buyer| buyer.reserve(&sector, 1, "key")));
    let overtake = async {
        gate.until_waiting(1).await;
        gate.write(&format!(
            "UPDATE sector_stock SET capacity = 5, available = 5 WHERE sector_id = '{sector}'"
        ))
        .await;
    };
    let (answers, ()) = tokio::join!(orders, overtake);
    assert_eq!(count(&answers, 201), 5, "{answers:?}");
    assert_eq!(count(&answers, 409), 15);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(5, 0, 5, 0));
    node.assert_consistent("sale").await;
    let mut replayed = Vec::new();
    for (buyer, answer) in people.iter().zip(&answers) {
        let again = buyer.reserve(&sector, 1, "key").await;
        assert_eq!(again.text, answer.text, "a decided refusal is replayed to the byte too");
        replayed.push((again.status, again.header("idempotent-replayed") == "true"));
    }
    // Whoever got in line late may have been told from memory, which is not recorded.
    assert_eq!(replayed.iter().filter(|&&replay| replay == (200, true)).count(), 5);
    assert!(replayed.contains(&(409, true)), "{replayed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_holders_of_a_lease_in_mid_batch_do_not_both_sell_the_last_place() {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let (one, two) = tokio::join!(
        CheckoutNode::start(&database, &redis, &[]),
        CheckoutNode::start(&database, &redis, &[]),
    );
    let sector = one.on_sale("sale", 1).await;
    let lease = format!("checkout:{{sale}}:lease:{sector}");
    let holder = async || stores::redis_command(&redis, &["GET", &lease]).await;
    let gate = Gate::shut(&one.ledger, &sector).await;
    let ada = one.buyer("sale", "ada");
    let ada = tokio::spawn({
        let sector = sector.clone();
        async move { ada.reserve_one(&sector).await }
    });
    gate.until_waiting(1).await;
    let first = holder().await;
    stores::redis_command(&redis, &["DEL", &lease]).await;
    let bob = two.buyer("sale", "bob");
    let open = async {
        gate.until_waiting(2).await;
        let second = holder().await;
        gate.open().await;
        second
    };
    let (bob, second) = tokio::join!(bob.reserve_one(&sector), open);
    assert!(!first.is_empty() && !second.is_empty() && first != second, "{first} {second}");
    let answers = [ada.await.expect("no panic"), bob];
    assert_eq!((count(&answers, 201), count(&answers, 409)), (1, 1), "{answers:?}");
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(1, 0, 1, 0));
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_that_are_lost_or_held_twice_sell_no_place_twice() {
    let redis = stores::redis_url().await;
    let database = stores::database_url().await;
    let (one, two) = tokio::join!(
        CheckoutNode::start(&database, &redis, &[]),
        CheckoutNode::start(&database, &redis, &[]),
    );
    let sector = one.on_sale("sale", 100).await;
    let key = format!("checkout:{{sale}}:lease:{sector}");
    let people: Vec<Buyer> =
        (0..300).map(|n| [&one, &two][n % 2].buyer("sale", &format!("person-{n}"))).collect();
    let done = std::sync::atomic::AtomicBool::new(false);
    let saboteur = async {
        let mut n = 0_u32;
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            // Gone in the middle of a batch: the other one takes it too. Or a stranger's.
            match n % 3 {
                0 | 1 => stores::redis_command(&redis, &["DEL", &key]).await,
                _ => stores::redis_command(&redis, &["SET", &key, "stranger", "PX", "20"]).await,
            };
            n += 1;
        }
        assert!(n > 10, "the lease was taken away {n} times");
    };
    let rush = async {
        let mut answers = Vec::new();
        for wave in people.chunks(30) {
            answers.extend(join_all(wave.iter().map(|buyer| buyer.reserve_one(&sector))).await);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        answers
    };
    let (answers, ()) = tokio::join!(rush, saboteur);
    assert_eq!(count(&answers, 201), 100);
    assert_eq!(count(&answers, 409), 200);
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(100, 0, 100, 0));
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_instances_hand_the_lease_to_one_another() {
    let (one, two) = pair(&[]).await;
    let sector = one.on_sale_with("sale", &json!({"max_per_user": 1_000}), &[100_000]).await;
    // A few people each, without a pause, so that neither line is ever empty for long.
    let shoppers = (0..12).map(async |n| {
        let buyer = [&one, &two][n % 2].buyer("sale", &format!("person-{n}"));
        for _ in 0..40 {
            buyer.reserve_one(&sector[0]).await.expect(201);
        }
    });
    join_all(shoppers).await;
    let handed_over = one.ops.get("/metrics").await.expect(200).text;
    assert!(handed_over.contains(r#"outcome="handed_over""#), "the lease was never handed over");
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_of_four_serves_two_thousand_who_wait() {
    let node = single(&["--database-connections", "4", "--request-timeout-seconds", "60"]).await;
    let settings = json!({"max_per_user": 10});
    let sectors = node.on_sale_with("sale", &settings, &[600, 600, 600, 600]).await;
    let people = node.crowd("sale", 2_000);
    let read = async {
        // Whoever only looks is not behind them.
        for _ in 0..20 {
            node.public.get("/v1/events/sale/sectors").await.expect(200);
        }
    };
    let orders = join_all(
        people.iter().enumerate().map(async |(n, buyer)| buyer.reserve_one(&sectors[n % 4]).await),
    );
    let (answers, ()) = tokio::join!(orders, read);
    let others: Vec<&Answer> = answers.iter().filter(|answer| answer.status != 201).collect();
    assert!(others.is_empty(), "{} of them: {:?}", others.len(), others[0]);
    node.ledger.assert_no_open_transaction().await;
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_postgres_cuts_in_mid_batch_lose_and_double_nothing() {
    let (one, two) = pair(&[]).await;
    let sector = one.on_sale("sale", 200).await;
    let done = std::sync::atomic::AtomicBool::new(false);
    let cutter = async {
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            sqlx::query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'stanchion-checkout'
                    AND state <> 'idle'",
            )
            .execute(one.ledger.pool())
            .await
            .expect("connections are cut");
            tokio::time::sleep(std::time::Duration::from_millis(15)).await;
        }
    };
    let people: Vec<Buyer> =
        (0..300).map(|n| [&one, &two][n % 2].buyer("sale", &format!("person-{n}"))).collect();
    let rush = async {
        let answers = join_all(people.iter().map(async |buyer| {
            wait::until("a decision", async || {
                let answer = buyer.reserve(&sector, 1, "key").await;
                matches!(answer.status, 200 | 201 | 409).then_some(answer)
            })
            .await
        }))
        .await;
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        answers
    };
    let (answers, ()) = tokio::join!(rush, cutter);
    let ids: std::collections::HashSet<String> = answers
        .iter()
        .filter(|answer| answer.status != 409)
        .map(|answer| answer.str("id"))
        .collect();
    assert_eq!((ids.len(), count(&answers, 409)), (200, 100));
    assert_eq!(one.ledger.stock(&sector).await, Stock::of(200, 0, 200, 0));
    assert_eq!(one.ledger.rows("reservations").await, 200);
    one.assert_consistent("sale").await;
}
