//! People who join at the waiting room and are let in.

use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use reqwest::StatusCode;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::Phase;
use crate::shop::desk::Desk;
use crate::shop::failed::Failed;

/// Joins under way at once.
const AT_ONCE: usize = 16;
/// Between two attempts at the gate.
const PAUSE: Duration = Duration::from_millis(200);
const ADMITTED_WITHIN: Duration = Duration::from_secs(60);

/// So many admission tokens.
pub(super) async fn admitted(
    desk: &Desk,
    event: &str,
    people: usize,
) -> Result<Vec<String>, Failed> {
    let mut tokens = Vec::with_capacity(people);
    let mut entering = stream::iter(0..people).map(|_| one(desk, event)).buffer_unordered(AT_ONCE);
    while let Some(token) = entering.next().await {
        tokens.push(token?);
        *desk.load.phase() = Phase::LettingIn(tokens.len());
    }
    Ok(tokens)
}

async fn one(desk: &Desk, event: &str) -> Result<String, Failed> {
    let queue = format!("{}/v1/events/{event}/queue", desk.options.waiting_room.url);
    let gate = format!("{}/v1/events/{event}/admission", desk.options.waiting_room.url);
    let answer = desk.client.post(&queue).send().await?;
    if answer.status() == StatusCode::TOO_MANY_REQUESTS {
        return Err(Failed::behind(
            "The waiting room lets no more people join from this address in this minute.",
        ));
    }
    let joined: Value = answer.error_for_status()?.json().await?;
    let ticket = joined["ticket"].as_str().unwrap_or_default();
    let deadline = Instant::now() + ADMITTED_WITHIN;
    while Instant::now() < deadline && !desk.shutdown.is_cancelled() {
        let answer = desk.client.post(&gate).bearer_auth(ticket).send().await?;
        if answer.status().is_success() {
            let admission: Value = answer.json().await?;
            return Ok(admission["admission_token"].as_str().unwrap_or_default().to_owned());
        }
        sleep(PAUSE).await;
    }
    Err(Failed::behind("The waiting room did not let everybody in within a minute."))
}
