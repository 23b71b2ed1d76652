//! Heartbeats, gathered in memory and written together.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use shared::ids::EventId;

use crate::queue::Person;

/// More people than this in one second for one event are not noted until their next heartbeat:
/// memory stays bounded whatever comes in.
const GATHERED_MAX: usize = 200_000;

/// Who has shown up since the last write.
#[derive(Debug, Default)]
pub struct Presence {
    gathered: Mutex<HashMap<EventId, HashMap<u64, Person>>>,
}

impl Presence {
    /// Notes somebody; once a second is as good as often.
    pub fn note(&self, event: &EventId, person: Person) {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let people = gathered.entry(event.clone()).or_default();
        if people.len() < GATHERED_MAX {
            people.insert(person.number, person);
        }
    }

    /// Hands over what was gathered and begins anew.
    pub fn take(&self) -> HashMap<EventId, Vec<Person>> {
        let gathered =
            std::mem::take(&mut *self.gathered.lock().unwrap_or_else(PoisonError::into_inner));
        gathered
            .into_iter()
            .map(|(event, people)| (event, people.into_values().collect()))
            .collect()
    }
}
