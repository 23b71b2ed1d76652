//! The room's state in Redis: each function is one script, and each script one atomic step.
//!
//! The scripts share a head, `room.lua`, that names the keys and takes Redis' time. All of them are
//! safe to run again when an answer was lost; `join.lua` is when the join says who it is for, and else
//! gives out a number that nobody holds: a gap, which is passed over like anybody who is absent.

mod codes;
mod keys;
mod outcome;
mod recovery;

pub use codes::{AccessCode, Lane};
pub use outcome::{Admission, Change, Claimed, Joined, Number, Place, Put, Snapshot, Standing};
pub use recovery::{OwnToken, Restore};

use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use shared::admission::LEEWAY_SECONDS;
use shared::ids::EventId;
use shared::redis::{Redis, RedisError, Script};
use uuid::Uuid;

use crate::queue::{Control, Person, QUEUE_DELAY_MS_MAX, RoomSettings, Seed};

/// Not seen for this long at least, and twice as long at most: not there. Browsers let a hidden
/// tab run one timer a minute, so anything under two minutes would lose people who are waiting.
const PRESENCE_GRACE: Duration = Duration::from_secs(120);

macro_rules! script {
    ($name:ident, $file:literal) => {
        pub(super) static $name: std::sync::LazyLock<shared::redis::Script> =
            std::sync::LazyLock::new(|| {
                shared::redis::Script::new(concat!(include_str!("room.lua"), include_str!($file)))
            });
    };
}
use script;

script!(JOIN, "join.lua");
script!(RECLAIM, "reclaim.lua");
script!(PLACE, "place.lua");
script!(CLAIM, "claim.lua");
script!(RECALL, "recall.lua");
script!(LEAVE, "leave.lua");
script!(HEARTBEATS, "heartbeats.lua");
script!(TICK, "tick.lua");
script!(PUT, "put.lua");
script!(CONTROL, "control.lua");
script!(AUDIT, "audit.lua");
static EVENTS: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("events.lua")));

/// The rooms in Redis. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    redis: Redis,
}

/// What a join says of itself; each part may be empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct Join<'a> {
    /// The shop's user, who always gets the same number.
    pub identity: &'a str,
    /// An id of this join, so that it can be sent again for a minute.
    pub join_id: &'a str,
    /// An access code.
    pub access_code: &'a str,
}

/// What a node asks of a tick.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tick {
    /// People called in all, as the node has seen it.
    pub seen_called: u64,
    /// People to call, if that is still so.
    pub people: u64,
    /// Up to when that counts, in milliseconds since the Unix epoch.
    pub called_until_ms: u64,
}

impl Store {
    /// The rooms in this Redis.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// Gives the next queue number.
    pub async fn join(&self, event: &EventId, join: Join<'_>) -> Result<Joined, RedisError> {
        let arguments = [join.identity, join.join_id, join.access_code].map(str::to_owned);
        self.run(&JOIN, event, arguments.into()).await
    }

    /// Takes in a ticket that is older than the store.
    pub async fn reclaim(&self, event: &EventId, person: Person) -> Result<(), RedisError> {
        self.run::<IgnoredAny>(&RECLAIM, event, person.arguments()).await.map(drop)
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
        self.run::<IgnoredAny>(&RECALL, event, person.arguments()).await.map(drop)
    }

    /// Gives a place up for good.
    pub async fn leave(&self, event: &EventId, person: Person) -> Result<(), RedisError> {
        self.run::<IgnoredAny>(&LEAVE, event, person.arguments()).await.map(drop)
    }

    /// Notes who is there.
    pub async fn heartbeats(&self, event: &EventId, people: &[Person]) -> Result<(), RedisError> {
        let arguments = people.iter().flat_map(|person| person.arguments()).collect();
        self.run::<IgnoredAny>(&HEARTBEATS, event, arguments).await.map(drop)
    }

    /// Calls people, if none were called since the caller looked, and reads the room. `None` when
    /// there is no such room.
    pub async fn tick(&self, event: &EventId, tick: Tick) -> Result<Option<Snapshot>, RedisError> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Answer {
            Room(Box<Snapshot>),
            NoRoom {},
        }
        let arguments = vec![
            tick.seen_called.to_string(),
            tick.people.to_string(),
            tick.called_until_ms.to_string(),
            PRESENCE_GRACE.as_millis().to_string(),
            QUEUE_DELAY_MS_MAX.to_string(),
        ];
        Ok(match self.run(&TICK, event, arguments).await? {
            Answer::Room(snapshot) => Some(*snapshot),
            Answer::NoRoom {} => None,
        })
    }

    /// Creates a room or changes its settings; with `if_version` only while that is its version.
    /// `seed` becomes the draw's if the room is new.
    pub async fn put(
        &self,
        event: &EventId,
        settings: &RoomSettings,
        if_version: Option<u64>,
        seed: &Seed,
    ) -> Result<Put, RedisError> {
        #[derive(Deserialize)]
        struct Answer {
            outcome: Put,
        }
        // Listed before it is made: a name in the list without a room is passed over, a room that
        // is not in the list would never be served.
        self.list(event).await?;
        let mut arguments = vec![
            OPERATOR.to_owned(),
            if_version.unwrap_or(0).to_string(),
            seed.to_hex(),
            serde_json::to_string(settings)?,
        ];
        arguments.extend(fields(settings));
        Ok(self.run::<Answer>(&PUT, event, arguments).await?.outcome)
    }

    /// Sets what the operator wants. False when there is no such room.
    pub async fn control(&self, event: &EventId, control: Control) -> Result<bool, RedisError> {
        #[derive(Deserialize)]
        struct Answer {
            changed: bool,
        }
        let arguments = vec![OPERATOR.to_owned(), control.as_str().to_owned()];
        Ok(self.run::<Answer>(&CONTROL, event, arguments).await?.changed)
    }

    /// The last changes of a room, newest first.
    pub async fn audit(&self, event: &EventId, count: u32) -> Result<Vec<Change>, RedisError> {
        self.run(&AUDIT, event, vec![count.to_string()]).await
    }

    /// All events.
    pub async fn events(&self) -> Result<Vec<EventId>, RedisError> {
        self.events_with(None).await
    }

    /// Makes sure that an event is in the list.
    pub async fn list(&self, event: &EventId) -> Result<(), RedisError> {
        self.events_with(Some(event)).await.map(drop)
    }

    /// The server's eviction policy; anything but `noeviction` may forget people.
    pub async fn eviction_policy(&self) -> Result<String, RedisError> {
        self.redis.eviction_policy().await
    }

    async fn events_with(&self, new: Option<&EventId>) -> Result<Vec<EventId>, RedisError> {
        let arguments = new.map(ToString::to_string).into_iter().collect();
        self.redis.run(&EVENTS, vec![keys::EVENTS.to_owned()], arguments).await
    }

    async fn run<T: DeserializeOwned>(
        &self,
        script: &Script,
        event: &EventId,
        arguments: Vec<String>,
    ) -> Result<T, RedisError> {
        self.redis.run(script, keys::of(event), arguments).await
    }
}

/// Who changes rooms, in the audit log: the ops token has no further name.
const OPERATOR: &str = "ops";

/// The fields that scripts read, as pairs.
fn fields(settings: &RoomSettings) -> impl Iterator<Item = String> {
    settings.for_scripts().into_iter().flat_map(|(name, value)| [name.to_owned(), value])
}
