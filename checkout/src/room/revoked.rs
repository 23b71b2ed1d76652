//! The tokens of ended sessions, in memory: refusing one asks nobody.
//!
//! What this instance has ended itself is known at once, what others have ended within about a
//! second. While Redis does not answer, what is known stays. What is known is bounded by the sessions
//! that the waiting room lets begin within one session's time: a token that is dead is forgotten.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use shared::ids::EventId;
use shared::redis::{Redis, RedisError};
use shared::signals::{self, Revoked};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How often the store is asked.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// Tokens asked for at once.
const PAGE: u32 = 1_000;
/// Pages asked for in one refresh; the next one goes on.
const PAGES_MAX: u32 = 50;
/// The last so many milliseconds are asked for again: the clock of a store that has taken over from
/// another may be behind it.
const OVERLAP_MS: u64 = 5_000;
/// An event of which no token was seen for so long is not asked for any more.
const IDLE_MAX: Duration = Duration::from_secs(600);

/// The tokens that are refused.
#[derive(Default)]
pub struct RevokedTokens {
    // Only of events for which the waiting room has signed a token.
    events: Mutex<HashMap<EventId, Known>>,
}

struct Known {
    dead_at: HashMap<Uuid, Instant>,
    up_to_ms: u64,
    seen_at: Instant,
}

impl RevokedTokens {
    /// Whether this token's session has ended. From here on the event's ended sessions are asked for.
    pub fn contains(&self, event: &EventId, jti: Uuid) -> bool {
        let mut events = self.lock();
        let Some(known) = events.get_mut(event) else {
            events.insert(event.clone(), Known::new());
            return false;
        };
        known.seen_at = Instant::now();
        known.dead_at.contains_key(&jti)
    }

    /// These tokens are refused from now on.
    pub fn note(&self, event: &EventId, revoked: &[Revoked]) {
        if revoked.is_empty() {
            return;
        }
        let (mut events, now) = (self.lock(), Instant::now());
        let known = events.entry(event.clone()).or_insert_with(Known::new);
        known.dead_at.extend(
            revoked.iter().map(|token| (token.jti, now + Duration::from_millis(token.left_ms))),
        );
    }

    /// Asks once a second, until shutdown.
    pub async fn keep_fresh(&self, redis: Redis, shutdown: CancellationToken) {
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(REFRESH_INTERVAL) => {}
            }
            self.forget_dead();
            for (event, up_to_ms) in self.seen() {
                if let Err(error) = self.refresh(&redis, &event, up_to_ms).await {
                    tracing::debug!(event = %event, error = %error, "ended sessions not asked for");
                }
            }
        }
    }

    async fn refresh(
        &self,
        redis: &Redis,
        event: &EventId,
        up_to_ms: u64,
    ) -> Result<(), RedisError> {
        let mut since_ms = up_to_ms.saturating_sub(OVERLAP_MS);
        for _ in 0..PAGES_MAX {
            let page = signals::revoked(redis, event, since_ms, PAGE).await?;
            self.note(event, &page.revoked);
            if let Some(known) = self.lock().get_mut(event) {
                known.up_to_ms = page.up_to_ms;
            }
            if !page.more {
                break;
            }
            since_ms = page.up_to_ms;
        }
        Ok(())
    }

    fn seen(&self) -> Vec<(EventId, u64)> {
        self.lock().iter().map(|(event, known)| (event.clone(), known.up_to_ms)).collect()
    }

    fn forget_dead(&self) {
        let (mut events, now) = (self.lock(), Instant::now());
        events.retain(|_, known| {
            known.dead_at.retain(|_, dead_at| *dead_at > now);
            !known.dead_at.is_empty() || known.seen_at.elapsed() < IDLE_MAX
        });
        let tokens: usize = events.values().map(|known| known.dead_at.len()).sum();
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        metrics::gauge!("checkout_revoked_tokens").set(f64::from(tokens));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EventId, Known>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn new() -> Self {
        Self { dead_at: HashMap::new(), up_to_ms: 0, seen_at: Instant::now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revoked_token_is_forgotten_when_it_is_dead_and_not_before() {
        let (tokens, event) = (RevokedTokens::default(), "demo".parse().expect("a slug"));
        let [dead, alive, other] = [1, 2, 3].map(Uuid::from_u128);
        let revoked = [Revoked { jti: dead, left_ms: 0 }, Revoked { jti: alive, left_ms: 60_000 }];
        tokens.note(&event, &revoked);
        tokens.forget_dead();
        assert!(tokens.contains(&event, alive));
        assert!(!tokens.contains(&event, dead) && !tokens.contains(&event, other));
    }
}
