//! Giving a room back to a store that has lost it.

use std::time::Duration;

use serde::de::IgnoredAny;
use shared::admission::LEEWAY_SECONDS;
use shared::ids::EventId;
use shared::redis::RedisError;

use super::{Admission, Snapshot, Store, fields, script};
use crate::queue::{Issued, RoomSettings};

script!(RESTORE, "restore.lua");
script!(REMEMBER, "remember.lua");

/// How long the gate stays shut after a restore: several ticks, so that every node has noticed and
/// has added the tokens that it alone knows of.
const SETTLING: Duration = Duration::from_secs(2);

/// What a node knows of a room that the store has lost.
#[derive(Debug)]
pub struct Restore<'a> {
    /// The last look.
    pub snapshot: &'a Snapshot,
    /// The settings at that look.
    pub settings: &'a RoomSettings,
    /// The last queue number that the node knows of.
    pub last_number: u64,
    /// Tokens whose record is lost, newest first.
    pub tokens: &'a [Issued],
    /// How many of those, the newest, count as sessions.
    pub sessions: u64,
}

/// A token that this node has issued.
#[derive(Debug, Clone)]
pub struct OwnToken {
    /// The queue number.
    pub number: u64,
    /// When, in milliseconds since the Unix epoch.
    pub issued_ms: u64,
    /// What the token says.
    pub admission: Admission,
}

impl OwnToken {
    /// When the session's lease ends, in milliseconds since the Unix epoch.
    pub fn lease_end_ms(&self) -> u64 {
        (self.admission.exp + LEEWAY_SECONDS) * 1_000
    }
}

impl Store {
    /// Gives a room back. Does nothing when another node has done so already.
    pub async fn restore(&self, event: &EventId, restore: &Restore<'_>) -> Result<(), RedisError> {
        self.list(event).await?;
        let (known, settings) = (restore.snapshot, restore.settings);
        let triples = triples(restore);
        let mut arguments = vec![
            known.epoch.to_string(),
            known.version.to_string(),
            known.config.clone(),
            known.control.clone(),
            known.seed.clone(),
            restore.last_number.to_string(),
            known.serving.to_string(),
            known.opened_at_ms.to_string(),
            known.draw_n.to_string(),
            known.called_total.to_string(),
            known.tokens_total.to_string(),
            SETTLING.as_millis().to_string(),
            triples.len().to_string(),
        ];
        arguments.extend(triples.into_iter().flatten().map(|number| number.to_string()));
        arguments.extend(fields(settings));
        self.run::<IgnoredAny>(&RESTORE, event, arguments).await.map(drop)
    }

    /// Adds what this node alone knows to a restored room.
    pub async fn remember(
        &self,
        event: &EventId,
        tokens: &[OwnToken],
        spent: &[u64],
    ) -> Result<(), RedisError> {
        let mut arguments = vec![tokens.len().to_string()];
        for token in tokens {
            arguments.extend([
                token.number.to_string(),
                token.issued_ms.to_string(),
                token.lease_end_ms().to_string(),
                serde_json::to_string(&token.admission)?,
            ]);
        }
        arguments.extend(spent.iter().map(ToString::to_string));
        self.run::<IgnoredAny>(&REMEMBER, event, arguments).await.map(drop)
    }
}

/// Issue time, end of the lease (0 = it has ended) and count. The newest count as sessions, since they
/// end last: whichever sessions were the ones that had not ended, this is no fewer and no shorter.
fn triples(restore: &Restore<'_>) -> Vec<[u64; 3]> {
    let mut sessions = restore.sessions;
    let mut triples = Vec::new();
    for issued in restore.tokens {
        let alive = issued.count.min(sessions);
        sessions -= alive;
        let second = issued.at_ms.div_ceil(1_000);
        let lease = restore.settings.session_duration_seconds + LEEWAY_SECONDS;
        triples.push([issued.at_ms, (second + lease) * 1_000, alive]);
        triples.push([issued.at_ms, 0, issued.count - alive]);
    }
    triples.retain(|&[_, _, count]| count > 0);
    triples
}
