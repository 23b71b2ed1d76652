//! Clients that go away in the middle of their request.

use std::time::Duration;

use futures::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use tests::sale::{Buyer, all_at_once, count, new_key, pair};
use tokio::time::timeout;

const REQUESTS: u32 = 300;
const AT_ONCE: usize = 12;
/// A request is cut off after up to so long.
const CUT_OFF_MAX: Duration = Duration::from_millis(20);

/// Sends a request and goes away after a moment, which is another one for each `n`.
async fn cut_off(request: RequestBuilder, n: u32) -> bool {
    let after = CUT_OFF_MAX.mul_f64(f64::from(n * 89 % REQUESTS) / f64::from(REQUESTS));
    timeout(after, request.send()).await.is_err()
}

/// The `n`th request: places are asked for, looked at, let go and confirmed.
fn request(buyer: &Buyer, sectors: &[String], holds: &[String], n: u32) -> RequestBuilder {
    let hold = format!("/v1/reservations/{}", holds[n as usize % holds.len()]);
    let items: Vec<_> =
        sectors.iter().map(|sector| json!({"sector_id": sector, "quantity": 1})).collect();
    match n % 6 {
        0 => buyer.client.request(Method::GET, &hold),
        1 => buyer.client.request(Method::DELETE, &hold),
        2 => buyer
            .service
            .request(Method::POST, &format!("{hold}/confirm"))
            .header("idempotency-key", new_key()),
        3 => buyer.reserve_request(&json!({"items": items[..4]}), &new_key()),
        // Few of these wait in line: most are cut off with their transaction under way.
        _ => buyer.reserve_request(&items[n as usize % items.len()], &new_key()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_go_away_leave_no_transaction_open_and_no_place_uncounted() {
    // No sweeper: what is left in a connection shall not be tidied away by another statement.
    let (one, two) = pair(&["--sweep-interval-ms", "3600000"]).await;
    let sectors = one.on_sale_with("sale", &json!({}), &[1_000; 20]).await;
    let holder = one.buyer("sale", "ada");
    let (mut holds, mut cut) = (Vec::new(), 0);
    for _ in 0..4 {
        holds.push(holder.hold(&sectors[0]).await);
    }
    let requests: Vec<u32> = (0..REQUESTS).collect();
    for wave in requests.chunks(AT_ONCE) {
        let sent = wave.iter().map(|&n| {
            let node = if n % 2 == 0 { &one } else { &two };
            // Whoever looks, lets go or confirms is the holder; whoever buys is somebody new.
            let buyer =
                if n % 6 < 2 { holder.at(node) } else { node.buyer("sale", &format!("p-{n}")) };
            cut_off(request(&buyer, &sectors, &holds, n), n)
        });
        cut += join_all(sent).await.into_iter().filter(|&cut| cut).count();
        // After each wave: the next one might end what this one has left.
        one.ledger.assert_no_open_transaction().await;
    }
    assert!(cut > 50, "only {cut} of {REQUESTS} were cut off: nothing was tried");
    for node in [&one, &two] {
        node.assert_consistent("sale").await;
        let late: Vec<Buyer> = (0..30).map(|n| node.buyer("sale", &format!("late-{n}"))).collect();
        let answers = all_at_once(&late, |buyer| {
            let sector = sectors[1].clone();
            async move { buyer.reserve_one(&sector).await }
        })
        .await;
        assert_eq!(count(&answers, 201), 30, "{answers:?}");
    }
    one.assert_consistent("sale").await;
}
