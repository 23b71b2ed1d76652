//! What the two services say to each other through Redis: names of keys, and the messages.
//!
//! The waiting room keeps sessions; the checkout says when one has ended, how much is left to sell,
//! and how long its writers' queue makes people wait. Everything here is best effort and safe to send
//! again: without it a session ends with its token, and the rate stays as configured.

use std::sync::LazyLock;

use serde::Deserialize;
use uuid::Uuid;

use crate::ids::EventId;
use crate::redis::{Redis, RedisError, Script};

/// Sorted set: queue number by the end of its lease, in milliseconds.
pub const SESSIONS: &str = "sessions";
/// Hash: queue number to its admission.
pub const ADMISSIONS: &str = "admissions";
/// Hash: `left`, `held`, `sold_out`, and `pressure:<instance>` as `at_ms:delay_ms`.
pub const SIGNALS: &str = "signals";
/// Sorted set: `jti:dead_at_ms` of ended sessions, by the time at which they ended, in milliseconds.
pub const REVOKED: &str = "revoked";

static END_SESSIONS: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("end_sessions.lua")));
static STOCK: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("stock.lua")));
static REVOKED_SINCE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("revoked.lua")));

/// A key of an event.
pub fn key(event: &EventId, name: &str) -> String {
    format!("stanchion:{{{event}}}:{name}")
}

/// One admission, as its token names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// The token's identity.
    pub jti: Uuid,
    /// The queue number.
    pub number: u64,
}

/// A token that is refused before it is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Revoked {
    /// Its identity.
    pub jti: Uuid,
    /// How long it would still be good, in milliseconds.
    pub left_ms: u64,
}

/// Says that sessions of an event have ended, at most a few hundred at once: their places are free at
/// once, and their tokens are revoked. Gives those that were ended by this. A session that the waiting
/// room does not know (any more) is left alone.
///
/// # Errors
/// When Redis does not answer; the sessions then end with their tokens.
pub async fn end_sessions(
    redis: &Redis,
    event: &EventId,
    sessions: &[Session],
) -> Result<Vec<Revoked>, RedisError> {
    let keys = [SESSIONS, ADMISSIONS, REVOKED].map(|name| key(event, name)).into();
    let arguments = sessions
        .iter()
        .flat_map(|session| [session.number.to_string(), session.jti.to_string()])
        .collect();
    redis.run(&END_SESSIONS, keys, arguments).await
}

/// What is left to sell of an event, and how busy one checkout is with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stock {
    /// Places that nobody holds.
    pub left: u64,
    /// Places that are held and not confirmed.
    pub held: u64,
    /// How long the writers' queue makes people wait, in milliseconds.
    pub queue_delay_ms: u64,
}

/// Publishes stock and pressure, in the name of one instance.
///
/// # Errors
/// When Redis does not answer.
pub async fn publish(
    redis: &Redis,
    event: &EventId,
    instance: Uuid,
    stock: Stock,
) -> Result<(), RedisError> {
    let arguments = vec![
        instance.to_string(),
        stock.left.to_string(),
        stock.held.to_string(),
        stock.queue_delay_ms.to_string(),
    ];
    redis.run::<serde::de::IgnoredAny>(&STOCK, vec![key(event, SIGNALS)], arguments).await.map(drop)
}

/// Some of the tokens that are revoked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RevokedPage {
    /// The tokens that are not dead yet.
    #[serde(default)]
    pub revoked: Vec<Revoked>,
    /// From when on to ask next, in milliseconds of the store's time.
    pub up_to_ms: u64,
    /// Whether there are more already.
    pub more: bool,
}

/// The tokens revoked since a moment of the store's time, oldest first, at most `limit`.
///
/// # Errors
/// When Redis does not answer.
pub async fn revoked(
    redis: &Redis,
    event: &EventId,
    since_ms: u64,
    limit: u32,
) -> Result<RevokedPage, RedisError> {
    let arguments = vec![since_ms.to_string(), limit.to_string()];
    redis.run(&REVOKED_SINCE, vec![key(event, REVOKED)], arguments).await
}
