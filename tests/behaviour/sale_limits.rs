//! What one person may have, and how often they may ask.

use futures::future::join_all;
use serde_json::json;
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode, all_at_once, count, pair, single};
use tests::wait;

/// 20 orders of one place each, all at once, of somebody who may have four.
async fn many_small_orders(node: &CheckoutNode, sectors: &[String], buyers: &[Buyer]) {
    let orders: Vec<(Buyer, String)> = (0..20)
        .map(|n| (buyers[n % buyers.len()].clone(), sectors[n % sectors.len()].clone()))
        .collect();
    let answers = join_all(orders.iter().map(|(buyer, sector)| buyer.reserve_one(sector))).await;
    assert_eq!(count(&answers, 201), 4);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.expect_problem(409, "purchase_limit");
    }
    assert_eq!(node.ledger.rows("reservations").await, 4);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_small_orders_at_once_do_not_pass_the_limit() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 100).await;
    many_small_orders(&node, &[sector], &[node.buyer("sale", "ada")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_other_sectors_nor_other_instances_pass_the_limit() {
    let (one, two) = pair(&["--sector-lease", "off"]).await;
    let sectors = one.on_sale_with("sale", &json!({}), &[100, 100, 100]).await;
    let ada = one.buyer("sale", "ada");
    let elsewhere = ada.at(&two);
    many_small_orders(&one, &sectors, &[ada, elsewhere]).await;
}

/// Both have seen that one more is allowed.
#[tokio::test(flavor = "multi_thread")]
async fn two_orders_that_are_both_about_to_reach_the_limit_do_not_pass_it() {
    let (one, two) = pair(&["--sector-lease", "off"]).await;
    let sectors = one.on_sale_with("sale", &json!({}), &[10, 10]).await;
    let ada = one.buyer("sale", "ada");
    ada.reserve(&sectors[0], 3, "three").await.expect(201);
    let elsewhere = ada.at(&two);
    let her_total = "SELECT FROM user_totals WHERE sub = 'ada' FOR UPDATE";
    let gate = Gate::at(&one.ledger, her_total).await;
    let open = async {
        gate.until_waiting(2).await;
        gate.open().await;
    };
    let orders = (ada.reserve_one(&sectors[0]), elsewhere.reserve_one(&sectors[1]));
    let (here, there, ()) = tokio::join!(orders.0, orders.1, open);
    let (had, refused) = if here.status == 201 { (here, there) } else { (there, here) };
    had.expect(201);
    refused.expect_problem(409, "purchase_limit");
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_let_go_may_be_had_again_and_what_is_bought_counts() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 100).await;
    let buyer = node.buyer("sale", "ada");
    let first = buyer.reserve(&sector, 3, "first").await.expect(201).str("id");
    buyer.reserve(&sector, 2, "too-many").await.expect_problem(409, "purchase_limit");
    buyer.cancel(&first).await.expect(200);
    let second = buyer.reserve(&sector, 4, "second").await.expect(201).str("id");
    buyer.confirm(&second).await.expect(200);
    buyer.reserve_one(&sector).await.expect_problem(409, "purchase_limit");
    // A limit that was reached is the key's answer for good.
    buyer.reserve(&sector, 2, "too-many").await.expect_problem(409, "purchase_limit");
    node.buyer("sale", "bob").reserve(&sector, 4, "key").await.expect(201);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(100, 92, 4, 4));
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_hold_gives_its_allowance_back() {
    let node = single(&["--sweep-interval-ms", "10"]).await;
    let sector = node.on_sale("sale", 100).await;
    let buyer = node.buyer("sale", "ada");
    let id = buyer.reserve(&sector, 4, "first").await.expect(201).str("id");
    buyer.reserve_one(&sector).await.expect_problem(409, "purchase_limit");
    node.ledger.expire_after(&id, std::time::Duration::ZERO).await;
    node.ledger.becomes(&id, "expired").await;
    buyer.reserve(&sector, 4, "second").await.expect(201);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_too_often_is_told_when_to_come_back_and_nobody_else_is() {
    let flags = ["--user-rate-per-second", "1", "--user-rate-burst", "5"];
    let node = single(&flags).await;
    let sector = node.on_sale("sale", 100).await;
    let (ada, bob) = (node.buyer("sale", "ada"), node.buyer("sale", "bob"));
    let answers = all_at_once(&vec![ada.clone(); 30], |buyer| {
        let sector = sector.clone();
        async move { buyer.reserve(&sector, 1, "key").await }
    })
    .await;
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status >= 400).collect();
    let served = answers.len() - refused.len();
    assert!((5..30).contains(&served), "{served} of 30 served with a burst of 5");
    for answer in refused {
        answer.expect_problem(429, "rate_limited");
        let seconds: u64 = answer.header("retry-after").parse().expect("whole seconds");
        assert!((1..=5).contains(&seconds), "{seconds}");
    }
    assert_eq!(node.ledger.rows("reservations").await, 1);

    // Reading counts too; the shop's service and other people are not limited by it.
    let id = answers.iter().find(|answer| answer.status == 201).expect("one").str("id");
    let limited = join_all((0..10).map(|_| ada.get(&id))).await;
    assert!(count(&limited, 429) > 0, "{limited:?}");
    bob.reserve_one(&sector).await.expect(201);
    for _ in 0..20 {
        ada.confirm(&id).await.expect(200);
    }
    wait::until("the limit to let her in again", async || {
        (ada.get(&id).await.status == 200).then_some(())
    })
    .await;
}
