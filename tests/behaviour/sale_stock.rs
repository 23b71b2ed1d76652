//! No place is sold twice, however many want it.

use serde_json::json;
use tests::ledger::Stock;
use tests::sale::{Buyer, CheckoutNode, all_at_once, count, pair, single};

const PLACES: u32 = 100;
const BUYERS: usize = 500;
/// On a busy machine the last in line may wait longer than the default, and is told to come back.
const PATIENT: [&str; 2] = ["--request-timeout-seconds", "60"];

/// 500 people want one of 100 places, all at once; each asks one of the nodes.
async fn rush(nodes: &[&CheckoutNode]) {
    let sector = nodes[0].on_sale("sale", PLACES).await;
    let buyers: Vec<Buyer> = nodes[0]
        .crowd("sale", BUYERS)
        .into_iter()
        .enumerate()
        .map(|(n, buyer)| buyer.at(nodes[n % nodes.len()]))
        .collect();
    let answers = all_at_once(&buyers, |buyer| {
        let sector = sector.clone();
        async move { buyer.reserve_one(&sector).await }
    })
    .await;

    assert_eq!(count(&answers, 201), PLACES as usize);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.expect_problem(409, "sold_out");
    }
    let ledger = &nodes[0].ledger;
    assert_eq!(ledger.stock(&sector).await, Stock::of(100, 0, 100, 0));
    assert_eq!(ledger.rows("reservations").await, 100);
    assert_eq!(ledger.rows("user_totals").await, 100);
    for node in nodes {
        node.assert_consistent("sale").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_500_buyers_for_100_places_exactly_100_get_one() {
    let node = single(&PATIENT).await;
    rush(&[&node]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_500_buyers_exactly_100_get_a_place_without_the_lease_too() {
    let node = single(&[&PATIENT[..], &["--sector-lease", "off"]].concat()).await;
    rush(&[&node]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_500_buyers_at_two_instances_exactly_100_get_a_place() {
    let (one, two) = pair(&PATIENT).await;
    rush(&[&one, &two]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_500_buyers_at_two_instances_without_the_lease_exactly_100_get_a_place() {
    let (one, two) = pair(&[&PATIENT[..], &["--sector-lease", "off"]].concat()).await;
    rush(&[&one, &two]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_does_not_fit_leaves_what_is_left_to_a_smaller_one() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 3).await;
    let (large, small) = (node.buyer("sale", "large"), node.buyer("sale", "small"));
    large.reserve(&sector, 4, "all").await.expect_problem(409, "sold_out");
    small.reserve(&sector, 3, "all").await.expect(201);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(3, 0, 3, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_public_sees_follows_the_stock() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 5).await;
    let buyer = node.buyer("sale", "ada");
    let reserved = buyer.reserve(&sector, 2, "two").await.expect(201);
    let body = reserved.json();
    assert_eq!(reserved.header("location"), format!("/v1/reservations/{}", reserved.str("id")));
    assert_eq!(body["items"], json!([{"sector_id": sector, "quantity": 2, "price": 1_000}]));
    assert_eq!((&body["total"], &body["currency"]), (&json!(2_000), &json!("EUR")));
    assert_eq!((&body["state"], &body["event"]), (&json!("held"), &json!("sale")));
    assert_eq!(buyer.get(&reserved.str("id")).await.expect(200).json(), body);

    tests::wait::until("the public list to be fresh", async || {
        (node.sectors("sale").await[0]["available"] == json!(3)).then_some(())
    })
    .await;
}
