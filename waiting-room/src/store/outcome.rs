//! What the scripts answer, as types.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
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
    /// What the operator wants, in the store's word.
    pub control: String,
    /// What the room is doing.
    pub mode: Mode,
    /// The last queue number given out; 0 before the first.
    pub last_number: u64,
    /// Everybody whose rank is at or below it has been called or passed over.
    pub serving: u64,
    /// Everybody whose rank is at or below it was called longer ago than the claim window.
    pub window_closed: u64,
    /// When the room opened, in milliseconds since the Unix epoch; 0 = not yet.
    pub opened_at_ms: u64,
    /// How many people were drawn at the opening; 0 = none.
    pub draw_n: u64,
    /// The seed of the draw, in hex: a secret until the opening.
    pub seed: String,
    /// People who are there and not called yet.
    pub waiting: u64,
    /// How many ranks one count of `there_by_stretch` spans.
    pub stretch: u64,
    /// How many are there, by stretches of the queue behind the serving counter.
    #[serde(default)]
    pub there_by_stretch: Vec<u64>,
    /// People called since the room was made, absent ones not counted.
    pub called_total: u64,
    /// Up to when people have been called, in milliseconds since the Unix epoch.
    pub called_until_ms: u64,
    /// People called ten to seventy seconds ago, and
    pub cohort_called: u64,
    /// how many of them have been at the gate.
    pub cohort_came: u64,
    /// People called in the last ten seconds who have not been at the gate.
    pub on_their_way: u64,
    /// People who were at the gate in the last ten seconds and are not through.
    pub standing: u64,
    /// Until the rate lets somebody through again, in milliseconds; 0 = now.
    pub gate_free_in_ms: u64,
    /// Sessions whose lease has not ended.
    pub active: u64,
    /// Tokens issued since the room was made.
    pub tokens_total: u64,
    /// Tokens a minute that the gate lets through now.
    pub rate_effective: u64,
    /// The longest queue delay that a checkout reports, in milliseconds.
    pub pressure_ms: u64,
    /// Places left to sell, if a checkout has said so.
    #[serde(default)]
    pub stock_left: Option<u64>,
    /// Places held and not confirmed, if a checkout has said so.
    #[serde(default)]
    pub stock_held: Option<u64>,
}

/// What a join came to.
#[derive(Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Joined {
    /// A number was given out.
    Joined(Number),
    /// The same person, or the same join sent again: the number that he has.
    Again(Number),
    /// As many people wait as are let wait.
    Full,
    /// The room takes nobody.
    Refused {
        /// Closed or draining.
        mode: Mode,
    },
    /// The room is for people with an access code.
    CodeMissing,
    /// The access code is unknown or used up.
    CodeInvalid,
    /// There is no such room.
    NoRoom,
}

/// A queue number, as it was given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Number {
    /// The queue number.
    pub number: u64,
    /// The store's epoch.
    pub epoch: u64,
    /// Seconds since the Unix epoch.
    pub iat: u64,
    /// In the priority lane.
    pub priority: bool,
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
    /// People before him in the priority lane, if he is in it.
    #[serde(default)]
    pub lane_ahead: Option<u64>,
}

/// What is fixed when a token is first issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    Issued {
        /// What the token says.
        #[serde(flatten)]
        admission: Admission,
        /// The moment, in milliseconds since the Unix epoch.
        issued_ms: u64,
    },
    /// Admitted before; the same token again.
    Again(Admission),
    /// Called, but the gate lets nobody through at this moment.
    GateFull {
        /// `rate`, `cap`, or the mode that keeps the gate shut.
        reason: String,
        /// When it is worth trying again.
        wait_ms: u64,
    },
    /// Nothing is left to sell.
    SoldOut,
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

/// One change of a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Change {
    /// Its place in the log.
    pub id: String,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// By whom.
    pub who: String,
    /// What was done.
    pub what: String,
    /// What it was before.
    pub before: String,
    /// What it is now.
    pub after: String,
}
