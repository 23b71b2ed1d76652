//! A store that has lost a room gets it back from what this node knows.

use shared::ids::EventId;
use shared::redis::RedisError;

use crate::app::App;
use crate::queue::Issued;
use crate::rooms::Room;
use crate::store::{Restore, Snapshot};

/// Tokens or spent numbers in one call of the script, so that no single step holds Redis for long.
const TOKENS_IN_A_STEP: usize = 500;
const SPENT_IN_A_STEP: usize = 2_000;
const MINUTE_MS: u64 = 60_000;

/// Restores a room that is gone or behind. `last_number` is the last that this node knows of, and
/// `now` what the store still has.
pub(super) async fn restore(
    app: &App,
    event: &EventId,
    room: &Room,
    last_number: u64,
    now: Option<&Snapshot>,
) -> Result<(), RedisError> {
    let known = &room.snapshot;
    // From a store that is only behind, only what came last is lost.
    let in_store = now.map_or(0, |now| now.tokens_total);
    let lost = known.tokens_total.saturating_sub(in_store);
    let sessions = if now.is_some() { lost } else { known.active };
    let tokens = worth_telling(room.history.since(in_store), sessions, known.now_ms);
    tracing::warn!(
        event = %event, epoch = known.epoch, last_number, serving = known.serving, tokens_lost = lost,
        "the store has lost this room or is behind: restoring it"
    );
    metrics::counter!("waiting_room_restores_total", "event" => event.to_string()).increment(1);
    let restore = Restore {
        snapshot: known,
        settings: &room.settings,
        last_number,
        tokens: &tokens,
        sessions,
    };
    app.store.restore(event, &restore).await
}

/// Adds the tokens and the spent places that this node alone knows of.
pub(super) async fn remember(app: &App, event: &EventId, room: &Room) -> Result<(), RedisError> {
    let (tokens, spent) = (room.own_tokens(), room.own.spent());
    tracing::info!(
        event = %event, tokens = tokens.len(), spent = spent.len(),
        "the store has begun a new epoch: adding what this node knows"
    );
    for step in tokens.chunks(TOKENS_IN_A_STEP) {
        app.store.remember(event, step, &[]).await?;
    }
    for step in spent.chunks(SPENT_IN_A_STEP) {
        app.store.remember(event, &[], step).await?;
    }
    Ok(())
}

/// The newest tokens that are still sessions or still count against the rate.
fn worth_telling(tokens: Vec<Issued>, sessions: u64, now_ms: u64) -> Vec<Issued> {
    let mut counted = 0;
    tokens
        .into_iter()
        .take_while(|issued| {
            let needed = counted < sessions || issued.at_ms + MINUTE_MS > now_ms;
            counted += issued.count;
            needed
        })
        .collect()
}
