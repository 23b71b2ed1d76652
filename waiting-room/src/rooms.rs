//! What this node knows of every room between two ticks.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use shared::ids::EventId;

use crate::queue::{Movement, RoomSettings};
use crate::store::Snapshot;

/// A view older than this is called stale: four ticks have failed.
const STALE_AFTER: Duration = Duration::from_secs(1);

/// One room, as it was at the last tick.
#[derive(Debug)]
pub struct Room {
    /// As the operator has set them.
    pub settings: Arc<RoomSettings>,
    /// The counters.
    pub snapshot: Snapshot,
    /// How the serving counter has moved.
    pub movement: Movement,
    read_at: Instant,
}

impl Room {
    /// The room after a tick, from what it was before and what the store says now.
    ///
    /// # Errors
    /// When the settings in the store are not readable.
    pub fn after(before: Option<&Self>, snapshot: Snapshot) -> Result<Self, serde_json::Error> {
        let same_settings = before.filter(|before| {
            (before.snapshot.epoch, before.snapshot.version) == (snapshot.epoch, snapshot.version)
        });
        let settings = match same_settings {
            Some(before) => before.settings.clone(),
            None => Arc::new(serde_json::from_str(&snapshot.config)?),
        };
        let mut movement = before.map(|before| before.movement.clone()).unwrap_or_default();
        movement.note(snapshot.now_ms, snapshot.serving);
        Ok(Self { settings, snapshot, movement, read_at: Instant::now() })
    }

    /// Whether the store has not answered for a while.
    pub fn is_stale(&self) -> bool {
        self.read_at.elapsed() > STALE_AFTER
    }
}

/// All rooms. Reading takes a lock for the time of one look-up.
#[derive(Debug, Default)]
pub struct Rooms {
    by_event: RwLock<HashMap<EventId, Arc<Room>>>,
}

impl Rooms {
    /// The room of an event.
    pub fn get(&self, event: &EventId) -> Option<Arc<Room>> {
        self.by_event.read().unwrap_or_else(PoisonError::into_inner).get(event).cloned()
    }

    /// Replaces what is known of one room.
    pub fn set(&self, event: EventId, room: Arc<Room>) {
        self.by_event.write().unwrap_or_else(PoisonError::into_inner).insert(event, room);
    }
}
