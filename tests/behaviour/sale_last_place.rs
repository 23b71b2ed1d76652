//! The last place. That these races are some, and that the guard is what decides them, is shown by
//! `sale_control`.

use futures::future::join_all;
use tests::client::Answer;
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode, count, pair, single};
use tests::wait;
use tokio::sync::Barrier;

async fn assert_one_has_it(node: &CheckoutNode, sector: &str, answers: &[Answer]) {
    assert_eq!(count(answers, 201), 1, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.expect_problem(409, "sold_out");
    }
    assert_eq!(node.ledger.stock(sector).await, Stock::of(1, 0, 1, 0));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_are_both_about_to_take_it_do_not_both_get_it() {
    // Without the lease, so that both transactions come to the critical write.
    let (one, two) = pair(&["--sector-lease", "off"]).await;
    let sector = one.on_sale("sale", 1).await;
    let gate = Gate::shut(&one.ledger, &sector).await;
    let (ada, bob) = (one.buyer("sale", "ada"), two.buyer("sale", "bob"));
    let gate = async {
        gate.until_waiting(2).await;
        gate.open().await;
    };
    let (ada, bob, ()) = tokio::join!(ada.reserve_one(&sector), bob.reserve_one(&sector), gate);
    assert_one_has_it(&one, &sector, &[ada, bob]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_who_ask_at_the_same_moment_one_gets_it() {
    for lease in ["on", "off"] {
        let (one, two) = pair(&["--sector-lease", lease]).await;
        let sector = one.on_sale("sale", 1).await;
        let start = Barrier::new(200);
        let people: Vec<Buyer> =
            (0..200).map(|n| [&one, &two][n % 2].buyer("sale", &format!("person-{n}"))).collect();
        let answers = join_all(people.iter().map(async |buyer| {
            start.wait().await;
            buyer.reserve_one(&sector).await
        }))
        .await;
        assert_one_has_it(&one, &sector, &answers).await;
    }
}

/// Asks until a stranger is told from memory that nothing is left: that is not recorded.
async fn until_memory_says_so(node: &CheckoutNode, sector: &str) {
    let asked = std::sync::atomic::AtomicU32::new(0);
    wait::until("sold out to be told from memory", async || {
        let n = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let before = node.ledger.rows("idempotency_keys").await;
        let answer = node.buyer("sale", &format!("stranger-{n}")).reserve_one(sector).await;
        answer.expect_problem(409, "sold_out");
        (node.ledger.rows("idempotency_keys").await == before).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_lost_the_answer_gets_it_though_all_others_hear_that_nothing_is_left() {
    let (one, two) = pair(&[]).await;
    let sector = one.on_sale("sale", 1).await;
    let ada = one.buyer("sale", "ada");
    let first = ada.reserve(&sector, 1, "key").await.expect(201);
    for node in [&one, &two] {
        until_memory_says_so(node, &sector).await;
        let again = ada.at(node).reserve(&sector, 1, "key").await.expect(200);
        assert_eq!(again.text, first.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_comes_back_is_for_sale_again_within_a_second_wherever_it_came_back() {
    let (one, two) = pair(&[]).await;
    let sector = one.on_sale("sale", 1).await;
    let mut id = one.buyer("sale", "ada").hold(&sector).await;
    for n in 0..4 {
        for node in [&one, &two] {
            until_memory_says_so(node, &sector).await;
        }
        let holder = if n == 0 { "ada".to_owned() } else { format!("next-{}", n - 1) };
        one.buyer("sale", &holder).cancel(&id).await.expect(200);
        let came_back = std::time::Instant::now();
        // Odd rounds ask where nobody has cancelled.
        let buyer = [&one, &two][n % 2].buyer("sale", &format!("next-{n}"));
        let answer = wait::until("the place to be for sale again", async || {
            let answer = buyer.reserve_one(&sector).await;
            (answer.status == 201).then_some(answer)
        })
        .await;
        let seconds = came_back.elapsed().as_secs_f64();
        assert!(seconds < 1.5, "for sale again after {seconds} s");
        id = answer.str("id");
    }
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn capacity_that_is_raised_or_freed_by_the_sweeper_is_for_sale() {
    let node = single(&["--sweep-interval-ms", "20"]).await;
    let sector = node.on_sale("sale", 1).await;
    let id = node.buyer("sale", "ada").hold(&sector).await;
    until_memory_says_so(&node, &sector).await;
    node.ledger.expire_after(&id, std::time::Duration::ZERO).await;
    let bob = node.buyer("sale", "bob");
    wait::until("the expired place to be for sale", async || {
        (bob.reserve_one(&sector).await.status == 201).then_some(())
    })
    .await;
    until_memory_says_so(&node, &sector).await;
    let sectors = serde_json::json!([{"sector_id": sector, "capacity": 2}]);
    node.create("sale", &serde_json::json!({"sectors": sectors})).await.expect(200);
    node.buyer("sale", "cem").reserve_one(&sector).await.expect(201);
    node.assert_consistent("sale").await;
}
