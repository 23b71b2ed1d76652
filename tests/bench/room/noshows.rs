//! Tokens issued while two in five of the called do not come.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tests::client::Client;
use tests::room::Person;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::stack::Stack;

const RATE_PER_MINUTE: u64 = 600;
/// Of every five who are called, two do not come.
const NO_SHOWS_OF_FIVE: u64 = 2;
/// What a person takes from being told to pressing the button: median 3 s, some take much longer.
const REACTION_MS: [u64; 10] =
    [900, 1_500, 2_000, 2_400, 2_800, 3_200, 3_800, 4_700, 6_200, 10_000];

#[derive(Default)]
struct Seen {
    tokens_at: Vec<Duration>,
    at_the_gate: Vec<Duration>,
    /// What was told at the first poll, and what it came to.
    waits: Vec<(u64, u64, Duration)>,
}

pub(crate) async fn run(minutes: u64) -> anyhow::Result<()> {
    let stack = Stack::start().await?;
    let settings =
        json!({"admission_rate_per_minute": RATE_PER_MINUTE, "claim_window_seconds": 60});
    stack.create(&settings).await;
    stack.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    let people = RATE_PER_MINUTE * (minutes + 1) * 5 / (5 - NO_SHOWS_OF_FIVE);
    let mut crowd = Vec::new();
    for _ in 0..people {
        let joined = stack.public.post("/v1/events/sale/queue").await.expect(201);
        let (ticket, number) = (joined.str("ticket"), joined.number("number"));
        let client: Client = stack.public.with_bearer(&ticket);
        crowd.push(Person { client, event: "sale".to_owned(), number, ticket });
    }
    stack.ops.post("/v1/admin/events/sale/resume").await.expect(200);
    let (started, seen) = (Instant::now(), Arc::new(Mutex::new(Seen::default())));
    let end = started + Duration::from_secs(minutes * 60);
    let mut tasks = JoinSet::new();
    for person in crowd {
        let seen = seen.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = sleep_until(end) => {}
                () = visit(person, started, seen) => {}
            }
        });
    }
    while tasks.join_next().await.is_some() {}
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    report(minutes, seen);
    Ok(())
}

/// Polls as told, reacts as people do, and stays at the gate until let through.
async fn visit(person: Person, started: Instant, seen: Arc<Mutex<Seen>>) {
    let mut told = None;
    loop {
        let place = person.poll().await;
        if place.status != 200 {
            sleep(Duration::from_secs(1)).await;
            continue;
        }
        if place.str("status") == "ready" {
            break;
        }
        let wait = &place.json()["estimated_wait_seconds"];
        if let (None, Some(min), Some(max)) = (told, wait["min"].as_u64(), wait["max"].as_u64()) {
            told = Some((min, max, Instant::now()));
        }
        sleep(Duration::from_millis(place.number("poll_after_ms"))).await;
    }
    if let Some((min, max, at)) = told {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.waits.push((min, max, at.elapsed()));
    }
    let number = usize::try_from(person.number).unwrap_or_default();
    // Spread evenly over the queue, in no step with the reactions.
    if person.number * 7 % 5 < NO_SHOWS_OF_FIVE {
        return;
    }
    sleep(Duration::from_millis(REACTION_MS[number * 3 % REACTION_MS.len()])).await;
    let at_the_gate = Instant::now();
    loop {
        let claim = person.claim().await;
        if claim.status == 201 {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.tokens_at.push(started.elapsed());
            seen.at_the_gate.push(at_the_gate.elapsed());
            return;
        }
        let seconds = claim.header("retry-after").parse().unwrap_or(1);
        sleep(Duration::from_secs(seconds)).await;
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn report(minutes: u64, mut seen: Seen) {
    println!("{RATE_PER_MINUTE} a minute, {NO_SHOWS_OF_FIVE} of 5 called people do not come");
    for minute in 0..minutes {
        let within = |at: &&Duration| at.as_secs() / 60 == minute;
        let tokens = seen.tokens_at.iter().filter(within).count();
        let share = 100.0 * tokens as f64 / RATE_PER_MINUTE as f64;
        println!("  minute {:>2}: {tokens:>5} tokens, {share:>5.1} % of the rate", minute + 1);
    }
    seen.at_the_gate.sort_unstable();
    let at = |share: f64| percentile(&seen.at_the_gate, share);
    println!("  at the gate: p50 {:.1?}, p99 {:.1?}", at(0.5), at(0.99));

    let inside = seen.waits.iter().filter(|(min, max, wait)| {
        let seconds = wait.as_secs();
        (*min..=*max).contains(&seconds)
    });
    let inside = 100.0 * inside.count() as f64 / seen.waits.len().max(1) as f64;
    let mut errors: Vec<f64> = seen
        .waits
        .iter()
        .map(|(min, max, wait)| {
            let predicted = (min + max) as f64 / 2.0;
            (wait.as_secs_f64() - predicted).abs() / predicted.max(1.0)
        })
        .collect();
    errors.sort_unstable_by(f64::total_cmp);
    let error = |share: f64| 100.0 * percentile(&errors, share);
    println!(
        "  predicted against actual wait of {} people: {inside:.0} % within the range; error p50 {:.0} %, p90 {:.0} %, p99 {:.0} %",
        seen.waits.len(),
        error(0.5),
        error(0.9),
        error(0.99)
    );
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into a sorted list"
)]
fn percentile<T: Copy + Default>(sorted: &[T], share: f64) -> T {
    let index = (sorted.len() as f64 * share) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}
