//! What the scripts answer, as types.

use serde::Deserialize;
use uuid::Uuid;

use crate::queue::Mode;

/// A room at one moment of the store's time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Snapshot {
    /// The moment, in milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// Which life of the store the numbers belong to.
    pub epoch: u64,
    /// Counts changes of the settings.
    pub version: u64,
    /// The settings as JSON.
    pub config: String,
    /// What the room is doing.
    pub mode: Mode,
    /// The last queue number given out; 0 before the first.
    pub last_number: u64,
    /// Everybody whose rank is at or below it has been called.
    pub serving: u64,
    /// Everybody whose rank is at or below it was called longer ago than the claim window.
    pub window_closed: u64,
    /// People who are there and not called yet.
    pub waiting: u64,
    /// People who are there, called within the claim window, and have not claimed.
    pub called: u64,
    /// Sessions whose lease has not ended.
    pub active: u64,
    /// Tokens issued since the room was made.
    pub tokens_total: u64,
}

/// What a join came to.
#[derive(Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Joined {
    /// A number was given out.
    Joined {
        /// The queue number.
        number: u64,
        /// The store's epoch.
        epoch: u64,
        /// Seconds since the Unix epoch.
        iat: u64,
    },
    /// As many people wait as are let wait.
    Full,
    /// The room takes nobody.
    Refused {
        /// Closed or draining.
        mode: Mode,
    },
    /// There is no such room.
    NoRoom,
}

/// Where one person stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Not called yet.
    Waiting,
    /// Called, and may claim.
    Ready,
    /// Has a token that is still good.
    Admitted,
    /// Called, did not come in time; is called again when he says that he is back.
    Missed,
    /// His session has ended, or he left.
    Over,
}

/// Where one person stands, and for how long.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Place {
    /// Where he stands.
    pub place: Standing,
    /// Milliseconds left to claim, or until the session's lease ends; else 0.
    pub left_ms: u64,
}

/// What is fixed when a token is first issued.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Admission {
    /// The token's identity.
    pub jti: Uuid,
    /// The key it was signed with.
    pub kid: String,
    /// Seconds since the Unix epoch.
    pub iat: u64,
    /// Seconds since the Unix epoch.
    pub exp: u64,
}

/// What a claim came to.
#[derive(Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Claimed {
    /// Admitted now.
    Issued(Admission),
    /// Admitted before; the same token again.
    Again(Admission),
    /// Called, but the gate lets nobody through at this moment.
    GateFull {
        /// `rate`, `cap`, or the mode that keeps the gate shut.
        reason: String,
        /// When it is worth trying again.
        wait_ms: u64,
    },
    /// Not called yet.
    NotCalled,
    /// Called, and did not come in time.
    Missed,
    /// His session has ended, or he left.
    Over,
    /// There is no such room.
    NoRoom,
}

/// What a change of settings came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Put {
    /// The room is new.
    Created,
    /// The room had other settings before, or the same.
    Changed,
    /// It is not at the version that the caller has seen.
    Overtaken,
}
