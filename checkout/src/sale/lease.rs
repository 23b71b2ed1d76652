//! The lease of a sector: instances take turns at it instead of queueing at its row in Postgres.
//!
//! It only manages contention. Whoever cannot get it, because Redis is away or the holder does not
//! let go, goes on without; the write itself holds the stock.

use std::time::{Duration, Instant};

use serde::Deserialize;
use shared::ids::{EventId, SectorId};
use shared::redis::{Redis, RedisError, Script};
use uuid::Uuid;

/// A lease that nobody gives back ends after this, in milliseconds.
const TTL_MS: u64 = 2_000;
/// How often a lease that is taken is asked for again.
const POLL_INTERVAL: Duration = Duration::from_millis(3);
/// Whoever has not asked again for this long waits no more, in milliseconds.
const WAITING_MS: u64 = 50;
/// How long Redis is left alone after it failed.
const TROUBLE_PAUSE: Duration = Duration::from_secs(1);

/// The leases of one instance.
pub struct Leases {
    redis: Redis,
    owner: String,
    acquire: Script,
    renew: Script,
    release: Script,
}

/// What came of asking for a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lease {
    /// It is ours, until we give it back or it runs out.
    Acquired,
    /// Not in time. `pause`: how long there is no point in asking again.
    Without {
        /// None when the holder is alive.
        pause: Option<Duration>,
    },
}

/// What came of prolonging a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Renewal {
    /// It is ours for another while.
    Kept,
    /// The turn was over and another instance waited.
    HandedOver,
    /// It had run out, and another instance has it.
    Lost,
}

#[derive(Deserialize)]
struct Answer {
    acquired: bool,
    remaining_ms: i64,
}

impl Leases {
    /// The leases of a new instance. Inside it, a sector's orders are in line already, so that the
    /// instance as a whole is the owner.
    pub fn new(redis: Redis) -> Self {
        Self {
            redis,
            owner: Uuid::new_v4().to_string(),
            acquire: Script::new(include_str!("acquire.lua")),
            renew: Script::new(include_str!("renew.lua")),
            release: Script::new(include_str!("release.lua")),
        }
    }

    /// Waits for the lease until `deadline`.
    pub async fn acquire(&self, event: &EventId, sector: SectorId, deadline: Instant) -> Lease {
        let asked_at = Instant::now();
        let (outcome, lease) = loop {
            let answer = match self.ask(event, sector).await {
                Ok(answer) => answer,
                Err(error) => {
                    tracing::debug!(error = %error, "sector lease: going on without");
                    break ("trouble", Lease::Without { pause: Some(TROUBLE_PAUSE) });
                }
            };
            if answer.acquired {
                break ("acquired", Lease::Acquired);
            }
            if Instant::now() + POLL_INTERVAL >= deadline {
                break ("waited_out", Lease::Without { pause: stuck(&answer, asked_at.elapsed()) });
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        };
        count(outcome);
        lease
    }

    /// Prolongs a lease of ours. With `turn_is_over` it goes to whoever waits.
    pub async fn renew(&self, event: &EventId, sector: SectorId, turn_is_over: bool) -> Renewal {
        let over = u8::from(turn_is_over).to_string();
        let arguments = vec![self.owner.clone(), TTL_MS.to_string(), over];
        let renewal = self.redis.run(&self.renew, keys(event, sector), arguments).await;
        let renewal = renewal.unwrap_or_else(|error| {
            tracing::debug!(error = %error, "sector lease not prolonged");
            Renewal::Lost
        });
        match renewal {
            Renewal::Kept => {}
            Renewal::HandedOver => count("handed_over"),
            Renewal::Lost => count("lost"),
        }
        renewal
    }

    /// Gives the lease back. When that fails it runs out by itself.
    pub async fn release(&self, event: &EventId, sector: SectorId) {
        let arguments = vec![self.owner.clone()];
        let released = self.redis.run::<bool>(&self.release, keys(event, sector), arguments).await;
        if let Err(error) = released {
            tracing::debug!(error = %error, "sector lease not given back, it will run out");
        }
    }

    async fn ask(&self, event: &EventId, sector: SectorId) -> Result<Answer, RedisError> {
        let arguments = vec![self.owner.clone(), TTL_MS.to_string(), WAITING_MS.to_string()];
        self.redis.run(&self.acquire, keys(event, sector), arguments).await
    }
}

/// The lease, and who waits for it.
fn keys(event: &EventId, sector: SectorId) -> Vec<String> {
    vec![
        format!("checkout:{{{event}}}:lease:{sector}"),
        format!("checkout:{{{event}}}:lease-wanted:{sector}"),
    ]
}

fn count(outcome: &'static str) {
    metrics::counter!("checkout_sector_leases_total", "outcome" => outcome).increment(1);
}

/// A live holder prolongs the lease more often than others give up waiting for it. One that has not
/// done so since we asked is dead or stuck, and not worth waiting for until its lease has run out.
fn stuck(answer: &Answer, waited: Duration) -> Option<Duration> {
    let remaining = Duration::from_millis(u64::try_from(answer.remaining_ms).unwrap_or(0));
    (remaining + waited <= Duration::from_millis(TTL_MS)).then_some(remaining)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_holder_that_does_not_let_go_is_left_alone() {
        let waited = Duration::from_millis(100);
        let answer = |remaining_ms| Answer { acquired: false, remaining_ms };
        assert_eq!(stuck(&answer(1_999), waited), None);
        assert_eq!(stuck(&answer(1_500), waited), Some(Duration::from_millis(1_500)));
        assert_eq!(stuck(&answer(-1), waited), Some(Duration::ZERO));
    }
}
