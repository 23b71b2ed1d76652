//! What operators watch: a room's last minute and hour and the sale behind it, as this node has seen them.
//!
//! Once a second [`sample`] notes where every room stands, and [`checkouts`] asks the checkouts how the sale
//! goes. It is kept in this node's memory, bounded, and survives no restart.

mod alarms;
pub mod checkouts;
mod hour;
mod minute;
mod sale;
pub mod sample;
mod waited;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use shared::ids::EventId;
use utoipa::ToSchema;

pub use alarms::{Alarm, Facts, alarms};
pub use hour::{Hour, INTERVAL_SECONDS, SERIES, Sample};
pub use minute::{Minute, Second, Shortfall};
pub use sale::{Heard, Sale, SaleBody, SaleState};
pub use waited::{Arrivals, LastCalled};

/// Events that are watched; of more than these there are no figures but the room's own.
const EVENTS_MAX: usize = 200;

/// What is known of every event.
pub struct Board {
    events: Mutex<HashMap<EventId, Watched>>,
    started: Instant,
}

impl Default for Board {
    fn default() -> Self {
        Self { events: Mutex::default(), started: Instant::now() }
    }
}

/// What is known of one event.
#[derive(Default)]
pub struct Watched {
    /// The last minute.
    pub minute: Minute,
    /// Who joined when.
    pub arrivals: Arrivals,
    /// The last hour.
    pub hour: Hour,
    /// The sale behind the room.
    pub sale: Sale,
}

/// What was seen of the last minute.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[schema(as = LastMinute)]
pub struct LastMinute {
    /// People who have joined.
    pub joined: u64,
    /// People who were called.
    pub called: u64,
    /// Tokens that were issued.
    pub admitted: u64,
    /// How long this node has been looking, in milliseconds: 60,000 but for the beginning.
    pub span_ms: u64,
}

impl Board {
    /// Looks at one event, or changes what is known of it; `None` when it is one too many.
    pub fn with<T>(&self, event: &EventId, act: impl FnOnce(&mut Watched) -> T) -> Option<T> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() >= EVENTS_MAX && !events.contains_key(event) {
            return None;
        }
        Some(act(events.entry(event.clone()).or_default()))
    }

    /// Milliseconds since this node was started: a time that only goes on.
    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
