//! What this node knows of every room between two ticks.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use shared::ids::EventId;
use tokio::sync::watch;

use crate::own::Own;
use crate::polls::Polls;
use crate::queue::{
    Draw, History, Look, Mode, Movement, Pace, Person, RoomSettings, Seed, there_ahead,
};
use crate::store::{OwnToken, Snapshot};

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
    /// When tokens were issued.
    pub history: History,
    /// What was decided here and the store may lose.
    pub own: Arc<Own>,
    /// Who has asked for his place lately.
    pub polls: Arc<Polls>,
    /// Counts the looks at which anything that people are told had changed.
    pub changes: watch::Sender<u64>,
    draw: Option<Draw>,
    read_at: Instant,
}

impl Room {
    /// The room after a tick, from what it was before and what the store says now.
    ///
    /// # Errors
    /// When the settings in the store are not readable.
    pub fn after(before: Option<&Self>, snapshot: Snapshot) -> Result<Self, serde_json::Error> {
        let same = before.filter(|before| before.snapshot.config == snapshot.config);
        let settings = match same {
            Some(before) => before.settings.clone(),
            None => Arc::new(serde_json::from_str::<RoomSettings>(&snapshot.config)?),
        };
        let mut movement = before.map(|before| before.movement.clone()).unwrap_or_default();
        // Before the opening and in a pause nobody is called, however many wait: that says nothing of how fast
        // people are called.
        let is_calling = matches!(snapshot.mode, Mode::Open | Mode::Draining);
        movement.note(Look {
            now_ms: snapshot.now_ms,
            called_total: snapshot.called_total,
            tokens_total: snapshot.tokens_total,
            active: snapshot.active,
            at_gate: snapshot.standing + snapshot.on_their_way,
            anybody_waiting: is_calling && snapshot.waiting > 0,
        });
        let mut history = before.map(|before| before.history.clone()).unwrap_or_default();
        let lease_ms = settings.session_duration_seconds * 1_000 + 60_000;
        history.note(snapshot.now_ms, snapshot.tokens_total, lease_ms);
        let draw = draw(&snapshot, &settings);
        let changes = before.map(|before| before.changes.clone()).unwrap_or_default();
        Ok(Self {
            own: before.map(|before| before.own.clone()).unwrap_or_default(),
            polls: before.map(|before| before.polls.clone()).unwrap_or_default(),
            settings,
            snapshot,
            movement,
            history,
            changes,
            draw,
            read_at: Instant::now(),
        })
    }

    /// The person with a queue number, as the draw has placed him.
    pub fn person(&self, number: u64) -> Person {
        Person::new(number, self.draw.as_ref())
    }

    /// The draw, once it has been made.
    pub fn draw(&self) -> Option<&Draw> {
        self.draw.as_ref()
    }

    /// How many people who are there stand before a rank and have not been called.
    pub fn users_ahead(&self, rank: u64) -> u64 {
        let now = &self.snapshot;
        there_ahead(rank, now.serving, now.stretch, &now.there_by_stretch)
    }

    /// What the next call is decided from.
    pub fn pace(&self) -> Pace {
        let now = &self.snapshot;
        Pace {
            rate_per_minute: now.rate_effective,
            free: self.settings.max_active_sessions.saturating_sub(now.active),
            ended_in_10s: self.movement.ended_in_10s(),
            standing: now.standing,
            on_their_way: now.on_their_way,
            cohort_called: now.cohort_called,
            cohort_came: now.cohort_came,
            gate_free_in_ms: now.gate_free_in_ms,
            elapsed_ms: now.now_ms.saturating_sub(now.called_until_ms),
        }
    }

    /// Whether the store has not answered for a while.
    pub fn is_stale(&self) -> bool {
        self.read_at.elapsed() > STALE_AFTER
    }

    /// Whether the store has lost what this node has seen in it.
    pub fn is_behind(&self, known_last_number: u64, snapshot: &Snapshot) -> bool {
        let before = &self.snapshot;
        snapshot.last_number < known_last_number
            || snapshot.version < before.version
            || snapshot.serving < before.serving
            || snapshot.tokens_total < before.tokens_total
    }

    /// The tokens issued here whose sessions may still run.
    pub fn own_tokens(&self) -> Vec<OwnToken> {
        self.own.tokens(self.snapshot.now_ms)
    }

    fn tells_other_than(&self, snapshot: &Snapshot) -> bool {
        let told = |snapshot: &Snapshot| {
            (
                snapshot.serving,
                snapshot.mode,
                snapshot.epoch,
                snapshot.version,
                snapshot.window_closed,
            )
        };
        told(&self.snapshot) != told(snapshot)
    }
}

fn draw(snapshot: &Snapshot, settings: &RoomSettings) -> Option<Draw> {
    if snapshot.draw_n == 0 {
        return None;
    }
    let seed = Seed::from_hex(&snapshot.seed)?;
    Some(Draw::new(&seed, settings.beacon(), snapshot.draw_n))
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

    /// All events that have a room.
    pub fn events(&self) -> Vec<EventId> {
        self.by_event.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Takes in what the store has answered, and gives the room as it is known from here on. An answer
    /// that was overtaken by a later one, to a tick at the same time, changes nothing: no counter that
    /// people have seen goes back.
    ///
    /// # Errors
    /// When the settings in the store are not readable.
    pub fn see(&self, event: &EventId, snapshot: Snapshot) -> Result<Arc<Room>, serde_json::Error> {
        let mut by_event = self.by_event.write().unwrap_or_else(PoisonError::into_inner);
        let before = by_event.get(event).cloned();
        if let Some(before) = &before
            && before.snapshot.epoch == snapshot.epoch
            && before.is_behind(before.snapshot.last_number, &snapshot)
        {
            return Ok(before.clone());
        }
        let room = Arc::new(Room::after(before.as_deref(), snapshot)?);
        by_event.insert(event.clone(), room.clone());
        drop(by_event);
        // Told only now: whoever hears of it at once must find the new room and not the old one.
        if before.is_some_and(|before| before.tells_other_than(&room.snapshot)) {
            room.changes.send_modify(|count| *count += 1);
        }
        Ok(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(serving: u64) -> Snapshot {
        let text = format!(
            r#"{{"now_ms":1,"epoch":1,"version":1,"control":"open","mode":"open","seed":"",
            "config":"{{\"name\":\"A\",\"checkout_url\":\"https://shop.example/\"}}",
            "last_number":9,"serving":{serving},"window_closed":0,"opened_at_ms":1,"draw_n":0,"waiting":0,
            "stretch":0,"called_total":0,"called_until_ms":0,"cohort_called":0,"cohort_came":0,
            "on_their_way":0,"standing":0,"gate_free_in_ms":0,"active":0,"tokens_total":0,
            "rate_effective":600,"pressure_ms":0}}"#
        );
        serde_json::from_str(&text).expect("a snapshot")
    }

    #[test]
    fn who_is_told_of_a_change_finds_the_new_room() {
        let (rooms, event) = (Rooms::default(), "sale".parse().expect("a slug"));
        let room = rooms.see(&event, snapshot(3)).expect("readable");
        let told = room.changes.subscribe();
        Room::after(Some(&room), snapshot(4)).expect("readable");
        assert!(!told.has_changed().expect("open"), "told before the room is there");
        rooms.see(&event, snapshot(4)).expect("readable");
        assert!(told.has_changed().expect("open"));
    }

    #[test]
    fn an_answer_that_was_overtaken_puts_no_counter_back() {
        let (rooms, event) = (Rooms::default(), "sale".parse().expect("a slug"));
        rooms.see(&event, snapshot(4)).expect("readable");
        rooms.see(&event, snapshot(3)).expect("readable");
        assert_eq!(rooms.get(&event).map(|room| room.snapshot.serving), Some(4));
        // After a restore it is another store, whose word counts.
        rooms.see(&event, Snapshot { epoch: 2, ..snapshot(3) }).expect("readable");
        assert_eq!(rooms.get(&event).map(|room| room.snapshot.serving), Some(3));
    }

    #[test]
    fn the_time_before_the_opening_and_of_a_pause_makes_no_wait_look_longer() {
        let (mut room, mut second, mut called_total) = (None, 0, 0);
        for (mode, seconds, a_second) in [
            (Mode::PreQueue, 40, 0),
            (Mode::Open, 10, 10),
            (Mode::Paused, 20, 0),
            (Mode::Open, 10, 10),
        ] {
            for _ in 0..seconds {
                let now_ms = second * 1_000;
                let tokens_total = called_total;
                let look = Snapshot {
                    now_ms,
                    mode,
                    called_total,
                    tokens_total,
                    waiting: 500,
                    ..snapshot(0)
                };
                room = Some(Room::after(room.as_ref(), look).expect("readable"));
                (second, called_total) = (second + 1, called_total + a_second);
            }
        }
        let wait = room.and_then(|room| room.movement.estimate(99)).expect("people were called");
        assert!(wait.min <= 10 && 10 <= wait.max && wait.max < 20, "{wait:?}");
    }

    #[test]
    fn two_first_looks_share_what_was_decided_here() {
        let (rooms, event) = (Rooms::default(), "sale".parse().expect("a slug"));
        rooms.see(&event, snapshot(3)).expect("readable").own.joined(7);
        rooms.see(&event, snapshot(3)).expect("readable");
        assert_eq!(rooms.get(&event).map(|room| room.own.last_number()), Some(7));
    }
}
