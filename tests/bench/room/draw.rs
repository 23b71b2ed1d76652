//! Opening a pre-queue of a million.

use std::time::Instant;

use serde_json::json;
use waiting_room::queue::{Draw, Seed};

use crate::stack::Stack;

const PEOPLE: u64 = 1_000_000;

pub(crate) async fn run() -> anyhow::Result<()> {
    let stack = Stack::start().await?;
    let settings = json!({"queueing_method": "random", "opens_at": "2100-01-01T00:00:00Z"});
    stack.create(&settings).await;
    stack.pretend_joined(PEOPLE).await;
    let url = stack.redis.url();
    tests::stores::redis_command(&url, &["CONFIG", "RESETSTAT"]).await;
    let started = Instant::now();
    let open = json!({"opens_at": "2020-01-01T00:00:00Z"});
    stack.ops.patch("/v1/admin/events/sale", &open).await.expect(200);
    let took = started.elapsed();
    let draw = Draw::new(&Seed::new([7; 32]), "", PEOPLE);
    let started = Instant::now();
    let sum: u64 = (1..=PEOPLE).map(|number| draw.rank(number)).sum();
    let each = started.elapsed() / u32::try_from(PEOPLE)?;
    anyhow::ensure!(sum == PEOPLE * (PEOPLE + 1) / 2, "not a permutation");
    println!("opening with {PEOPLE} people in the pre-queue");
    println!("  settings changed, drawn, opened and answered over HTTP in {took:.1?}");
    println!("  one person's rank {each:.1?}");
    Ok(())
}
