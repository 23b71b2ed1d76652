//! What the two services say to each other through Redis: names of keys, and the messages.
//!
//! The waiting room keeps sessions; the checkout says when one has ended, how much is left to sell,
//! and how long its writers' queue makes people wait. Everything here is best effort and safe to send
//! again: without it a session ends with its token, and the rate stays as configured.

use std::sync::LazyLock;

use uuid::Uuid;

use crate::ids::EventId;
use crate::redis::{Redis, RedisError, Script};

/// Sorted set: queue number by the end of its lease, in milliseconds.
pub const SESSIONS: &str = "sessions";
/// Hash: queue number to its admission.
pub const ADMISSIONS: &str = "admissions";
/// Hash: `left`, `held`, `sold_out`, and `pressure:<instance>` as `at_ms:delay_ms`.
pub const SIGNALS: &str = "signals";
/// Sorted set: `jti` of ended sessions, by the time at which their token dies anyway.
pub const REVOKED: &str = "revoked";

static END_SESSION: LazyLock<Script> =
    LazyLock::new(|| Script::new(include_str!("end_session.lua")));
static STOCK: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("stock.lua")));
static REVOKED_NOW: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("revoked.lua")));

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

/// Says that a session has ended: its place is free at once, and its token is revoked.
///
/// # Errors
/// When Redis does not answer; the session then ends with its token.
pub async fn end_session(
    redis: &Redis,
    event: &EventId,
    session: Session,
) -> Result<(), RedisError> {
    let keys = [SESSIONS, ADMISSIONS, REVOKED].map(|name| key(event, name)).into();
    let arguments = vec![session.number.to_string(), session.jti.to_string()];
    redis.run::<serde::de::IgnoredAny>(&END_SESSION, keys, arguments).await.map(drop)
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

/// The sessions whose tokens are revoked and not dead yet.
///
/// # Errors
/// When Redis does not answer.
pub async fn revoked(redis: &Redis, event: &EventId) -> Result<Vec<Uuid>, RedisError> {
    redis.run(&REVOKED_NOW, vec![key(event, REVOKED)], Vec::new()).await
}
