//! A million people waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::json;
use shared::redis::Redis;
use waiting_room::store::{Join, Store};

use crate::stack::{Stack, tickets};

const PEOPLE: u64 = 1_000_000;
const CLIENTS: u64 = 128;
const OVER_HTTP: u64 = 100_000;
const MEBIBYTE: f64 = 1_048_576.0;

pub(crate) async fn run() -> anyhow::Result<()> {
    println!("a million people waiting");
    let without = Stack::start().await?;
    without.create(&json!({"opens_at": "2100-01-01T00:00:00Z"})).await;
    let before = without.redis_bytes().await?;
    let node_before = without.node_bytes()?;
    let rate = join_over_http(&without).await?;
    println!("  joins over HTTP            {rate:>10.0} /s ({CLIENTS} clients, {OVER_HTTP} joins)");
    join_in_the_store(&without, PEOPLE - OVER_HTTP, "").await?;
    // Ids of joins are kept for a minute or two; these had none.
    report("Redis without identities", without.redis_bytes().await? - before);
    poll_everybody(&without).await?;
    report("node, everybody has polled", without.node_bytes()?.saturating_sub(node_before));
    drop(without);

    let with = Stack::start().await?;
    with.create(&json!({"opens_at": "2100-01-01T00:00:00Z"})).await;
    let before = with.redis_bytes().await?;
    join_in_the_store(&with, PEOPLE, "user-").await?;
    report("Redis with identities", with.redis_bytes().await? - before);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn report(what: &str, bytes: u64) {
    println!("  {what:<26} {:>10.1} MiB", bytes as f64 / MEBIBYTE);
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
async fn join_over_http(stack: &Stack) -> anyhow::Result<f64> {
    let started = Instant::now();
    in_parallel(OVER_HTTP, {
        let client = stack.public.clone();
        move |_| {
            let client = client.clone();
            async move {
                client.post("/v1/events/sale/queue").await.expect(201);
                Ok(())
            }
        }
    })
    .await?;
    Ok(OVER_HTTP as f64 / started.elapsed().as_secs_f64())
}

async fn join_in_the_store(
    stack: &Stack,
    people: u64,
    identity: &'static str,
) -> anyhow::Result<()> {
    let store = Store::new(Redis::connect(&stack.redis.url()).await?);
    let event: shared::ids::EventId = "sale".parse()?;
    let event = Arc::new(event);
    in_parallel(people, move |n| {
        let (store, event) = (store.clone(), event.clone());
        async move {
            // As long as a UUID, which users' names often are.
            let identity =
                if identity.is_empty() { String::new() } else { format!("{identity}{n:031}") };
            let join = Join { identity: &identity, ..Join::default() };
            // On a busy machine one in many answers comes too late; a person would ask again.
            while store.join(&event, join).await.is_err() {}
            Ok(())
        }
    })
    .await
}

async fn poll_everybody(stack: &Stack) -> anyhow::Result<()> {
    let tickets = Arc::new(tickets((1..=PEOPLE).step_by(10))?);
    let client = stack.public.clone();
    in_parallel(PEOPLE / 10, move |n| {
        let (client, tickets) = (client.clone(), tickets.clone());
        async move {
            let ticket = &tickets[usize::try_from(n)?];
            client.with_bearer(ticket).get("/v1/events/sale/queue").await.expect(200);
            Ok(())
        }
    })
    .await
}

async fn in_parallel<F, R>(count: u64, one: F) -> anyhow::Result<()>
where
    F: Fn(u64) -> R + Clone + Send + 'static,
    R: Future<Output = anyhow::Result<()>> + Send,
{
    let next = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (next, one) = (next.clone(), one.clone());
            tokio::spawn(async move {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return anyhow::Ok(());
                    }
                    one(n).await?;
                }
            })
        })
        .collect();
    for client in clients {
        client.await??;
    }
    Ok(())
}
