//! Orders over several sectors.

use futures::future::join_all;
use serde_json::json;
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{CheckoutNode, new_key, pair, single};

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_one_sector_are_held_against_its_stock_together() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 3).await;
    let buyer = node.buyer("sale", "ada");
    let lines = [(sector.as_str(), 2), (sector.as_str(), 2)];
    buyer.reserve_items(&lines, "four").await.expect_problem(409, "sold_out");
    let lines = [(sector.as_str(), 2), (sector.as_str(), 1)];
    let reserved = buyer.reserve_items(&lines, "three").await.expect(201);
    let items = json!([{"sector_id": sector, "quantity": 3, "price": 1_000}]);
    assert_eq!(reserved.json()["items"], items);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(3, 0, 3, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_basket_is_had_as_a_whole_or_not_at_all() {
    let node = single(&[]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10, 1]).await;
    let (large, small) = (sectors[0].as_str(), sectors[1].as_str());
    let buyer = node.buyer("sale", "ada");
    for lines in [[(large, 2), (small, 2)], [(small, 2), (large, 2)]] {
        buyer.reserve_items(&lines, &new_key()).await.expect_problem(409, "sold_out");
    }
    assert_eq!(node.ledger.stock(large).await, Stock::of(10, 10, 0, 0));
    assert_eq!(node.ledger.rows("user_totals").await, 0);

    let reserved = buyer.reserve_items(&[(small, 1), (large, 2)], "key").await.expect(201);
    assert_eq!(reserved.number("total"), 3_000);
    assert_eq!(node.ledger.stock(large).await, Stock::of(10, 8, 2, 0));
    assert_eq!(node.ledger.stock(small).await, Stock::of(1, 0, 1, 0));
    buyer.cancel(&reserved.str("id")).await.expect(200);
    assert_eq!(node.ledger.stock(large).await, Stock::of(10, 10, 0, 0));
    assert_eq!(node.ledger.stock(small).await, Stock::of(1, 1, 0, 0));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_one_order_counts_the_whole_basket() {
    let node = single(&[]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10, 10]).await;
    let lines = [(sectors[0].as_str(), 3), (sectors[1].as_str(), 3)];
    let answer = node.buyer("sale", "ada").reserve_items(&lines, "key").await;
    answer.expect_problem(422, "invalid_quantity");
    node.ledger.assert_untouched().await;
}

/// People who want the same three sectors, each in another order, and let them go again.
async fn crossing(nodes: &[&CheckoutNode]) {
    let sectors = nodes[0].on_sale_with("sale", &json!({}), &[30, 30, 30]).await;
    let [a, b, c] = [0, 1, 2].map(|n| sectors[n].as_str());
    let orders = [[a, b, c], [c, b, a], [b, c, a], [a, c, b]];
    let person = async |n: usize| {
        let node = nodes[n % nodes.len()];
        let buyer = node.buyer("sale", &format!("person-{n}"));
        for round in 0..10 {
            let lines = orders[(n + round) % orders.len()].map(|sector| (sector, 1));
            let reserved = buyer.reserve_items(&lines, &new_key()).await.expect(201);
            if round < 9 {
                buyer.cancel(&reserved.str("id")).await.expect(200);
            } else {
                buyer.confirm(&reserved.str("id")).await.expect(200);
            }
        }
    };
    join_all((0..20).map(person)).await;
    for sector in &sectors {
        assert_eq!(nodes[0].ledger.stock(sector).await, Stock::of(30, 10, 0, 20));
    }
    nodes[0].assert_consistent("sale").await;
}

/// Each is stopped after it has the first of its sectors: in one order, only one of them has any.
#[tokio::test(flavor = "multi_thread")]
async fn two_baskets_in_reversed_order_take_their_sectors_in_the_same() {
    let (one, two) = pair(&["--sector-lease", "off"]).await;
    let sectors = one.on_sale_with("sale", &json!({}), &[2, 2]).await;
    let (a, b) = (sectors[0].as_str(), sectors[1].as_str());
    let (ada, bob) = (one.buyer("sale", "ada"), two.buyer("sale", "bob"));
    let gate = Gate::trigger(&one.ledger, "AFTER UPDATE ON sector_stock").await;
    let open = async {
        gate.until_waiting(2).await;
        let with_one: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event = 'advisory'",
        )
        .fetch_one(one.ledger.pool())
        .await
        .expect("the activity is read");
        gate.open().await;
        with_one
    };
    let (ab, ba) = ([(a, 1), (b, 1)], [(b, 1), (a, 1)]);
    let orders = (ada.reserve_items(&ab, "key"), bob.reserve_items(&ba, "key"));
    let (ada, bob, with_one) = tokio::join!(orders.0, orders.1, open);
    assert_eq!(with_one, 1, "each has a sector that the other one wants: a deadlock");
    ada.expect(201);
    bob.expect(201);
    for sector in [a, b] {
        assert_eq!(one.ledger.stock(sector).await, Stock::of(2, 0, 2, 0));
    }
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn baskets_that_cross_one_another_all_get_an_answer() {
    let node = single(&[]).await;
    crossing(&[&node]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn baskets_that_cross_one_another_at_two_instances_all_get_an_answer() {
    for lease in ["on", "off"] {
        let (one, two) = pair(&["--sector-lease", lease]).await;
        crossing(&[&one, &two]).await;
    }
}
