//! The line of a sector: how many may wait in it, and that one sector's line is not another's.

use std::collections::BTreeSet;

use axum::extract::Request;
use axum::http::Method;
use checkout::sale::line::Ticket;
use futures::future::join_all;
use serde_json::{Value, json};
use shared::problem::Problem;
use tests::gate::Gate;
use tests::sale::{CheckoutNode, Inside};
use tests::{stores, wait};

/// Orders that two writers have taken out of the line at most.
const TAKEN_MAX: usize = 2 * 512;

async fn start(flags: &[&str]) -> (CheckoutNode, Inside) {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let node = CheckoutNode::start(&database, &redis, flags).await;
    let inside = Inside::start(&database, &redis, flags).await;
    (node, inside)
}

/// Gets so many in line, as if there were places for all of them. They wait as long as the tickets are kept.
fn crowd(inside: &Inside, name: &str, sector: &str, people: usize) -> Vec<Ticket> {
    let place = |n: usize| inside.place("sale", &format!("{name}-{n}"), sector, i32::MAX);
    let placed: Result<Vec<_>, Problem> = (0..people).map(place).collect();
    placed.expect("there is room for more than these")
}

fn order(inside: &Inside, sub: &str, sector: &str) -> Request {
    let body = json!({"sector_id": sector, "quantity": 1});
    let admission = inside.admission("sale", sub);
    inside.request(Method::POST, "/v1/reservations", &admission, Some(&body))
}

/// Status, code and `Retry-After`.
async fn answer(inside: &Inside, sub: &str, sector: &str) -> (u16, String, String) {
    let response = inside.answer(order(inside, sub, sector)).await;
    let status = response.status().as_u16();
    let retry_after = response.headers().get("retry-after").map(|value| value.to_str());
    let retry_after = retry_after.and_then(Result::ok).unwrap_or_default().to_owned();
    let bytes = axum::body::to_bytes(response.into_body(), 10_000).await.expect("a body");
    let body: Value = serde_json::from_slice(&bytes).expect("JSON");
    (status, body["code"].as_str().unwrap_or_default().to_owned(), retry_after)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_takes_twice_as_many_as_there_are_places_and_tells_the_rest_to_come_back() {
    let (node, inside) = start(&["--decision-wait-ms", "10"]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10, 3_000]).await;
    let (small, large) = (sectors[0].as_str(), sectors[1].as_str());
    let gates = (Gate::shut(&node.ledger, small).await, Gate::shut(&node.ledger, large).await);
    // Of 10 places, and of any number up to 2,048: 4,096 may wait. Of 3,000 places: 6,000.
    let mut waiting = crowd(&inside, "small", small, 4_096 + TAKEN_MAX);
    waiting.extend(crowd(&inside, "large", large, 4_096 + TAKEN_MAX / 2));
    assert_eq!(answer(&inside, "late", large).await.0, 202, "there are places for twice as many");
    waiting.extend(crowd(&inside, "more", large, 1_904 + TAKEN_MAX));

    let mut pauses = BTreeSet::new();
    for sector in [small, large] {
        let late = (0..40).map(async |n| answer(&inside, &format!("late-{n}"), sector).await);
        for (status, code, retry_after) in join_all(late).await {
            assert_eq!((status, code.as_str()), (429, "queue_full"));
            let seconds: u64 = retry_after.parse().expect("whole seconds");
            assert!((1..=10).contains(&seconds), "{seconds}");
            pauses.insert(seconds);
        }
    }
    assert!(pauses.len() > 1, "all of them come back at the same time: {pauses:?}");
    assert_eq!(node.ledger.rows("idempotency_keys").await, 0, "nothing is recorded of it");
    // Nobody waits for those any more; whoever comes back is served.
    drop(waiting);
    gates.0.open().await;
    gates.1.open().await;
    wait::until("room in the line", async || {
        (answer(&inside, "late", small).await.0 < 300).then_some(())
    })
    .await;
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_beyond_what_can_wait_are_told_to_come_back() {
    let (node, inside) = start(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let ada = node.buyer("sale", "ada");
    let path = format!("/v1/reservations/{}", ada.hold(&sector).await);
    let cancel = || {
        let bearer = ada.client.bearer().expect("a token");
        inside.request(Method::DELETE, &path, bearer, None)
    };
    let mut busy = Vec::new();
    let refused = loop {
        let mut work = Box::pin(inside.app.tasks.run(|_| std::future::pending::<()>()));
        match futures::poll!(work.as_mut()) {
            std::task::Poll::Pending => busy.push(work),
            std::task::Poll::Ready(refused) => break refused,
        }
        assert!(busy.len() < 100_000, "there is no bound");
    };
    assert!(refused.is_err());
    let answer = inside.answer(cancel()).await;
    assert_eq!(answer.status().as_u16(), 429);
    assert!(answer.headers().contains_key("retry-after"));
}

/// The service's transactions that wait for a lock: which ones, and since when.
async fn stuck(node: &CheckoutNode) -> Vec<(i32, String)> {
    sqlx::query_as(
        "SELECT pid, xact_start::text FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'stanchion-checkout'
            AND wait_event_type = 'Lock'
         ORDER BY pid",
    )
    .fetch_all(node.ledger.pool())
    .await
    .expect("the activity is read")
}

/// The hot sector's writers stand in the middle of their transactions, and thousands behind them.
#[tokio::test(flavor = "multi_thread")]
async fn a_hot_sector_that_is_stuck_does_not_stop_a_quiet_one() {
    let (node, inside) = start(&[]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10_000, 10_000]).await;
    let (hot, quiet) = (sectors[0].as_str(), sectors[1].as_str());
    let gate = Gate::shut(&node.ledger, hot).await;
    let mut waiting = crowd(&inside, "hot", hot, 12_000);
    // Once may be luck, and once may fail: after a second each of them is given up and begun anew.
    let mut in_a_row = 0;
    for n in 0..10 {
        gate.until_waiting(2).await;
        let before = stuck(&node).await;
        let served = answer(&inside, &format!("quiet-{n}"), quiet).await.0 == 201;
        let beside_them = served && before.len() >= 2 && stuck(&node).await == before;
        in_a_row = if beside_them { in_a_row + 1 } else { 0 };
        if in_a_row == 2 {
            break;
        }
        // So many may have been told to come back meanwhile.
        waiting.extend(crowd(&inside, &format!("hot-{n}"), hot, 512));
    }
    assert_eq!(in_a_row, 2, "an order for another sector waits for those that are stuck");
    drop(waiting);
    gate.open().await;
}

/// With one connection for all writers, an order for a quiet sector waits for the batches that are under way,
/// and not for the hot sector's line.
#[tokio::test(flavor = "multi_thread")]
async fn a_hot_sector_does_not_starve_a_quiet_one() {
    let (node, inside) = start(&["--database-connections", "4"]).await;
    let sectors = node.on_sale_with("sale", &json!({}), &[10_000, 10_000]).await;
    let (hot, quiet) = (sectors[0].as_str(), sectors[1].as_str());
    let gate = Gate::shut(&node.ledger, hot).await;
    let waiting = crowd(&inside, "hot", hot, 10 * 512);
    gate.until_waiting(1).await;
    let order = answer(&inside, "quiet", quiet);
    let open = async {
        // It is in line, or will be before the hot one is through: there is no way to tell from outside.
        tokio::task::yield_now().await;
        gate.open().await;
    };
    assert_eq!(tokio::join!(order, open).0.0, 201);
    let all = async || {
        join_all(waiting.into_iter().map(|ticket| ticket.reply(wait::DEADLINE))).await.len()
    };
    assert_eq!(all().await, 10 * 512);
    let before: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM reservations
         JOIN reservation_items AS items USING (event_id, reservation_id)
         WHERE items.sector_id = $1::text::uuid AND created_at < (
            SELECT created_at FROM reservations WHERE sub = 'quiet'
         )",
    )
    .bind(hot)
    .fetch_one(node.ledger.pool())
    .await
    .expect("the reservations are read");
    assert!(before <= 5 * 512, "{before} of 5,120 were served before one of another sector");
    node.assert_consistent("sale").await;
}
