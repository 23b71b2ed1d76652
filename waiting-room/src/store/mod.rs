//! The room's state in Redis: each function is one script, and each script one atomic step.
//!
//! The scripts share a head, `room.lua`, that names the keys and takes Redis' time. All of them are
//! safe to run again when an answer was lost, except `join.lua`, which then has given out a number
//! that nobody holds: a gap, which is passed over like anybody who is absent.

mod keys;
mod outcome;

pub use outcome::{Admission, Claimed, Joined, Place, Put, Snapshot, Standing};

use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;
use shared::admission::LEEWAY_SECONDS;
use shared::ids::EventId;
use shared::redis::{Redis, RedisError, Script};
use uuid::Uuid;

use crate::queue::{Control, Person, RoomSettings};

/// Not seen for this long at least, and twice as long at most: not there. Browsers let a hidden
/// tab run one timer a minute, so anything under two minutes would lose people who are waiting.
const PRESENCE_GRACE: Duration = Duration::from_secs(120);

macro_rules! script {
    ($name:ident, $file:literal) => {
        static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(concat!(include_str!("room.lua"), include_str!($file))));
    };
}

script!(JOIN, "join.lua");
script!(PLACE, "place.lua");
script!(CLAIM, "claim.lua");
script!(RECALL, "recall.lua");
script!(LEAVE, "leave.lua");
script!(HEARTBEATS, "heartbeats.lua");
script!(TICK, "tick.lua");
script!(PUT, "put.lua");
script!(CONTROL, "control.lua");
static EVENTS: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("events.lua")));

/// The rooms in Redis. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    redis: Redis,
}

impl Store {
    /// The rooms in this Redis.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// Gives the next queue number.
    pub async fn join(&self, event: &EventId) -> Result<Joined, RedisError> {
        self.run(&JOIN, event, vec![]).await
    }

    /// Where a called person stands.
    pub async fn place(&self, event: &EventId, person: Person) -> Result<Place, RedisError> {
        self.run(&PLACE, event, person.arguments()).await
    }

    /// Asks the gate. `jti` and `kid` are used only if this is the person's first admission.
    pub async fn claim(
        &self,
        event: &EventId,
        person: Person,
        jti: Uuid,
        kid: &str,
    ) -> Result<Claimed, RedisError> {
        let mut arguments = person.arguments();
        arguments.extend([jti.to_string(), kid.to_owned(), LEEWAY_SECONDS.to_string()]);
        self.run(&CLAIM, event, arguments).await
    }

    /// Calls somebody again who missed his turn; changes nothing for anybody else.
    pub async fn recall(&self, event: &EventId, person: Person) -> Result<(), RedisError> {
        self.run::<serde::de::IgnoredAny>(&RECALL, event, person.arguments()).await.map(drop)
    }

    /// Gives a place up for good.
    pub async fn leave(&self, event: &EventId, person: Person) -> Result<(), RedisError> {
        self.run::<serde::de::IgnoredAny>(&LEAVE, event, person.arguments()).await.map(drop)
    }

    /// Notes who is there.
    pub async fn heartbeats(&self, event: &EventId, people: &[Person]) -> Result<(), RedisError> {
        let arguments = people.iter().flat_map(|person| person.arguments()).collect();
        self.run::<serde::de::IgnoredAny>(&HEARTBEATS, event, arguments).await.map(drop)
    }

    /// Calls `people` more, if the serving counter is still where the caller saw it, and reads the
    /// room. `None` when there is no such room.
    pub async fn tick(
        &self,
        event: &EventId,
        seen_serving: u64,
        people: u64,
    ) -> Result<Option<Snapshot>, RedisError> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Answer {
            Room(Box<Snapshot>),
            NoRoom {},
        }
        let grace_ms = PRESENCE_GRACE.as_millis();
        let arguments = vec![seen_serving.to_string(), people.to_string(), grace_ms.to_string()];
        Ok(match self.run(&TICK, event, arguments).await? {
            Answer::Room(snapshot) => Some(*snapshot),
            Answer::NoRoom {} => None,
        })
    }

    /// Creates a room or changes its settings; with `if_version` only while that is its version.
    pub async fn put(
        &self,
        event: &EventId,
        settings: &RoomSettings,
        if_version: Option<u64>,
    ) -> Result<Put, RedisError> {
        #[derive(Deserialize)]
        struct Answer {
            outcome: Put,
        }
        // Listed before it is made: a name in the list without a room is passed over, a room that
        // is not in the list would never be served.
        self.events_with(Some(event)).await?;
        let arguments = vec![
            if_version.unwrap_or(0).to_string(),
            serde_json::to_string(settings)?,
            settings.opens_at_ms().to_string(),
            settings.admission_rate_per_minute.to_string(),
            settings.max_active_sessions.to_string(),
            (settings.claim_window_seconds * 1_000).to_string(),
            settings.session_duration_seconds.to_string(),
            settings.max_queue_length.unwrap_or(0).to_string(),
        ];
        Ok(self.run::<Answer>(&PUT, event, arguments).await?.outcome)
    }

    /// Sets what the operator wants. False when there is no such room.
    pub async fn control(&self, event: &EventId, control: Control) -> Result<bool, RedisError> {
        #[derive(Deserialize)]
        struct Answer {
            changed: bool,
        }
        let arguments = vec![control.as_str().to_owned()];
        Ok(self.run::<Answer>(&CONTROL, event, arguments).await?.changed)
    }

    /// All events.
    pub async fn events(&self) -> Result<Vec<EventId>, RedisError> {
        self.events_with(None).await
    }

    /// The server's eviction policy; anything but `noeviction` may forget people.
    pub async fn eviction_policy(&self) -> Result<String, RedisError> {
        self.redis.eviction_policy().await
    }

    async fn events_with(&self, new: Option<&EventId>) -> Result<Vec<EventId>, RedisError> {
        let arguments = new.map(ToString::to_string).into_iter().collect();
        self.redis.run(&EVENTS, vec![keys::EVENTS.to_owned()], arguments).await
    }

    async fn run<T: serde::de::DeserializeOwned>(
        &self,
        script: &Script,
        event: &EventId,
        arguments: Vec<String>,
    ) -> Result<T, RedisError> {
        self.redis.run(script, keys::of(event), arguments).await
    }
}
