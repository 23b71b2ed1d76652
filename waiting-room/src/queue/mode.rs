//! What a room is doing, and what the operator wants it to do.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a room is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Announced: nobody may join yet.
    Scheduled,
    /// Before the opening: people gather, nobody is called.
    PreQueue,
    /// People are called and let in.
    Open,
    /// Nobody is called or let in; everybody keeps his place.
    Paused,
    /// Nobody new may join; who is in the queue is served.
    Draining,
    /// Nothing is left to sell: nobody may join, nobody is let in.
    SoldOut,
    /// Over: nobody may join, nobody is let in.
    Closed,
}

impl Mode {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::PreQueue => "pre_queue",
            Self::SoldOut => "sold_out",
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Draining => "draining",
            Self::Closed => "closed",
        }
    }
}

/// What the operator wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Open, as soon as the opening time has come.
    Open,
    /// Hold everything.
    Paused,
    /// Serve out the queue.
    Draining,
    /// End it.
    Closed,
}

impl Control {
    /// The word in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Draining => "draining",
            Self::Closed => "closed",
        }
    }
}
