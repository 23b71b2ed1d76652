//! A shop that fails, hangs, redirects or is not there is told in the end, and the sale does not notice.

use serde_json::Value;
use tests::sale::{all_at_once, count, single};
use tests::shop::{Reply, SECRET, Shop};
use tests::{programs, wait};

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_fails_hangs_and_redirects_is_told_in_the_end() {
    let shop = Shop::that(|attempt| match attempt.number {
        1 => Reply::Status(500),
        2 => Reply::Hang,
        3 => Reply::Redirect,
        4 => Reply::Endless(418),
        _ => Reply::Endless(200),
    })
    .await;
    let flags = shop.flags_and(&["--shop-webhook-timeout-ms", "300"]);
    let node = single(&flags).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    shop.until_attempts(2).await;
    // While it is in trouble.
    ada.confirm(&id).await.expect(200);
    shop.until_taken(2).await;
    shop.assert_in_order();
    let numbers: Vec<usize> = shop.attempts().iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 1, 2, 3, 4, 5], "a redirect that is followed is one more");
    let settled: Vec<(i32, bool, Option<String>)> = wait::until("both to be noted", async || {
        let rows = sqlx::query_as(
            "SELECT attempts, due_at IS NULL, last_error FROM reservation_events
             WHERE delivered_at IS NOT NULL",
        );
        let rows = rows.fetch_all(node.ledger.pool()).await.expect("the rows are read");
        (rows.len() == 2).then_some(rows)
    })
    .await;
    assert_eq!(settled, [(5, true, None), (5, true, None)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_end_is_not_waited_for() {
    let shop = Shop::that(|_| Reply::Endless(200)).await;
    // Longer than the test waits.
    let node = single(&shop.flags_and(&["--shop-webhook-timeout-ms", "60000"])).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let id = ada.hold(&sector).await;
    ada.cancel(&id).await.expect(200);
    shop.until_taken(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_hangs_takes_up_no_connection_and_holds_up_no_sale() {
    let shop = Shop::that(|_| Reply::Hang).await;
    // More under way than there are connections, for longer than the test lasts.
    let flags = shop.flags_and(&[
        "--shop-webhook-timeout-ms",
        "60000",
        "--shop-webhook-concurrency",
        "64",
        "--database-connections",
        "4",
    ]);
    let node = single(&flags).await;
    let sector = node.on_sale("sale", 1_000).await;
    let (first, second) = (node.crowd("sale", 100), node.crowd("sale", 200));
    let reserve = |buyer: tests::sale::Buyer| {
        let sector = sector.clone();
        async move { buyer.reserve_one(&sector).await }
    };
    assert_eq!(count(&all_at_once(&first, reserve).await, 201), 100);
    shop.until_attempts(64).await;
    // All that may be under way is, and hangs.
    let answers = all_at_once(&second, |buyer| {
        let sector = sector.clone();
        async move {
            let held = buyer.reserve_one(&sector).await;
            let confirmed = buyer.confirm(&held.str("id")).await;
            if held.status == 201 { confirmed } else { held }
        }
    })
    .await;
    assert_eq!(count(&answers, 200), 200, "{answers:?}");
    node.ledger.assert_no_open_transaction().await;
    assert_eq!(shop.attempts().len(), 64);
    assert_eq!(node.ledger.rows("reservation_events").await, 500);
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_is_not_there_is_asked_less_and_less_and_its_backlog_is_shown() {
    let nowhere = format!("http://{}/hooks", programs::address());
    let flags = ["--shop-webhook-url", &nowhere, "--shop-webhook-secrets", SECRET];
    let flags = [&flags[..], &["--shop-webhook-concurrency", "4"]].concat();
    let node = single(&flags).await;
    let sector = node.on_sale("sale", 100).await;
    for buyer in node.crowd("sale", 30) {
        buyer.hold(&sector).await;
    }
    wait::until("the shop to be asked for", async || {
        let tried: i64 =
            sqlx::query_scalar("SELECT count(*) FROM reservation_events WHERE attempts > 0")
                .fetch_one(node.ledger.pool())
                .await
                .expect("the rows are read");
        (tried >= 4).then_some(())
    })
    .await;
    let shown: Value = node.ops.get("/v1/admin/events/sale/outbox").await.expect(200).json();
    assert_eq!(shown["pending"], 30);
    assert!(shown["oldest_pending_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    let figures = node.ops.get("/metrics").await.expect(200).text;
    assert!(figures.contains("checkout_webhooks_total{outcome=\"failed\"}"), "{figures}");
    assert!(figures.contains("checkout_outbox_backlog"), "{figures}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_shop_nothing_piles_up_and_what_was_tried_is_kept() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    for buyer in node.crowd("sale", 3) {
        buyer.hold(&sector).await;
    }
    let event = "sale".parse().expect("an event");
    let purge = async |after_seconds| {
        let mut connection = node.ledger.pool().acquire().await.expect("a connection");
        let purge = checkout::store::outbox::purge_unwanted;
        purge(&mut connection, &event, after_seconds, 500).await.expect("a purge")
    };
    assert_eq!(purge(3_600).await, 0, "they are young");
    sqlx::query(
        "UPDATE reservation_events SET attempts = 1
         WHERE reservation_id = (SELECT min(reservation_id::text)::uuid FROM reservations)",
    )
    .execute(node.ledger.pool())
    .await
    .expect("one was tried by an instance that tells a shop");
    assert_eq!(purge(0).await, 2);
    assert_eq!(node.ledger.rows("reservation_events").await, 1);
    node.assert_consistent("sale").await;
}
