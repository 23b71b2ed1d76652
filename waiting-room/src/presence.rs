//! Heartbeats, gathered in memory and written together. Who polls or follows a stream is there as well.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::ids::EventId;

use crate::queue::Person;

/// More people than this in one second for one event are not noted until their next heartbeat:
/// memory stays bounded whatever comes in.
const GATHERED_MAX: usize = 200_000;

/// Who polls is noted once in this time: well inside the grace, and a tenth of the polls or less.
pub const NOTE_EVERY: Duration = Duration::from_secs(30);

/// Who has shown up since the last write.
#[derive(Debug)]
pub struct Presence {
    started: Instant,
    gathered: Mutex<HashMap<EventId, HashMap<u64, Person>>>,
}

impl Default for Presence {
    fn default() -> Self {
        Self { started: Instant::now(), gathered: Mutex::default() }
    }
}

impl Presence {
    /// Notes somebody who polls and is to come again after `poll_after_ms`, once or twice in each
    /// [`NOTE_EVERY`]. Nothing is remembered for it: each person has a moment of his own in that time, and
    /// the polls right after it count.
    pub fn note_poll(&self, event: &EventId, person: Person, poll_after_ms: u64) {
        let now_ms = self.started.elapsed().as_millis();
        // Fibonacci hashing, as for the jitter of polls: neighbours have other moments.
        let moment = u128::from(person.number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32);
        let since_ms = (now_ms + moment) % NOTE_EVERY.as_millis();
        // A poll may well come later than it was told.
        if since_ms < u128::from(poll_after_ms) * 2 {
            self.note(event, person);
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_polls_are_noted_and_not_all() {
        let (presence, event) = (Presence::default(), "sale".parse().expect("a slug"));
        for number in 1..=3_000 {
            presence.note_poll(&event, Person { number, rank: number }, 1_500);
        }
        // Three of thirty seconds.
        let noted = presence.take().remove(&event).map_or(0, |people| people.len());
        assert!((200..=400).contains(&noted), "{noted} of 3,000");
        presence.note_poll(&event, Person { number: 1, rank: 1 }, 15_000);
        assert_eq!(presence.take().len(), 1, "who polls twice a minute is noted each time");
    }
}
