//! People who reserve, each up to five times a second, which is what one person may do in the long run.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{Order, Phase, crowd};
use crate::shop::desk::Desk;
use crate::shop::failed::Failed;
use crate::shop::prepare;

/// Between two requests of one person.
const PAUSE: Duration = Duration::from_millis(200);
/// More than anybody can reserve in that time.
const CAPACITY: u32 = 1_000_000;

/// All of it, from the event to what the checkout says of it afterwards.
pub(super) async fn whole(
    desk: &Desk,
    order: Order,
    stop: &CancellationToken,
) -> Result<Value, Failed> {
    let wanted = json!({ "sale": {
        "max_per_user": 10_000,
        "sectors": [{ "name": "Load", "capacity": CAPACITY, "price": 1_000 }],
    } });
    let wanted = serde_json::from_value(wanted).map_err(|_| Failed::behind("no such event"))?;
    let made = prepare::new_event(desk, wanted).await?;
    let event = made["event"].as_str().unwrap_or_default();
    let done = at(desk, order, event, &made["sectors"][0]["sector_id"], stop).await;
    prepare::close_event(desk, event).await?;
    done
}

async fn at(
    desk: &Desk,
    order: Order,
    event: &str,
    sector: &Value,
    stop: &CancellationToken,
) -> Result<Value, Failed> {
    let people = tokio::select! {
        people = crowd::admitted(desk, event, order.people) => people?,
        () = stop.cancelled() => return Err(Failed::behind("It was stopped before it began.")),
    };
    let body = json!({ "sector_id": sector, "quantity": 1 }).to_string();
    *desk.load.phase() = Phase::Running;
    desk.load.figures().begin(order.seconds);
    let until = Instant::now() + Duration::from_secs(order.seconds);
    let share = people.len().div_ceil(order.concurrency).max(1);
    join_all(people.chunks(share).map(|people| in_turn(desk, people, &body, until, stop))).await;
    desk.load.figures().end();
    let sale = prepare::reconciled(desk, event).await?;
    Ok(json!({ "consistent": sale["consistent"], "acknowledged": desk.load.figures().good(),
        "sale": sale }))
}

/// These people one after the other, again and again.
async fn in_turn(
    desk: &Desk,
    people: &[String],
    body: &str,
    until: Instant,
    stop: &CancellationToken,
) {
    let url = format!("{}/v1/reservations", desk.options.checkout.url);
    let mut round = Instant::now();
    while round < until && !stop.is_cancelled() {
        for person in people {
            if Instant::now() >= until || stop.is_cancelled() {
                return;
            }
            let request = desk.client.post(&url).bearer_auth(person);
            let request = request.header("idempotency-key", Uuid::new_v4().to_string());
            let request = request.header("content-type", "application/json");
            let begun = Instant::now();
            let (outcome, good) = match request.body(body.to_owned()).send().await {
                Ok(answer) => outcome(answer).await,
                Err(_) => ("no answer".to_owned(), false),
            };
            desk.load.figures().count(outcome, good, begun.elapsed());
        }
        // Not to make up for a round that took longer.
        round = (round + PAUSE).max(Instant::now());
        tokio::select! {
            () = sleep_until(round) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// What it says, and whether that is a reservation.
async fn outcome(answer: Response) -> (String, bool) {
    let status = answer.status();
    // To the last byte: that, too, is part of how long it takes.
    let body: Value = answer.json().await.unwrap_or(Value::Null);
    let code = body["code"].as_str().or_else(|| body["state"].as_str()).unwrap_or_default();
    (format!("{} {code}", status.as_u16()), status == reqwest::StatusCode::CREATED)
}
