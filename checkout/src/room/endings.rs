//! Tells the waiting room whose session is over: a reservation was confirmed or cancelled or has
//! expired, and its admission keeps no other live hold. The place goes to the next person at once.
//!
//! Best effort. Whoever decides about a reservation leaves its name here and goes on; what is not
//! told, because too much waits or Redis stays away, ends with its token.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use shared::ids::{EventId, ReservationId};
use shared::redis::{Redis, RedisError};
use shared::signals::{self, Revoked, Session};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::revoked::RevokedTokens;
use crate::catalogue::Catalogue;
use crate::store::{Store, StoreError, sessions};

/// Reservations that wait to be told of.
const QUEUE_MAX: usize = 10_000;
/// Reservations looked at together, and sessions ended in one command.
const BATCH: usize = 200;
/// How often it is tried. With the pauses between that is about eleven seconds: enough for a Redis
/// that fails over.
const ATTEMPTS_MAX: u32 = 8;
/// The first pause, which doubles each time,
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// and the longest.
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(5);

/// Reservations that are not held any more, on their way to the waiting room.
pub struct Endings {
    waiting: mpsc::Sender<(EventId, ReservationId)>,
    queue: Mutex<mpsc::Receiver<(EventId, ReservationId)>>,
    store: Arc<Store>,
    redis: Redis,
    catalogue: Arc<Catalogue>,
    revoked: Arc<RevokedTokens>,
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Redis(#[from] RedisError),
}

impl Endings {
    /// Nothing is on its way yet. What has ended is noted in `revoked`.
    pub fn new(
        store: Arc<Store>,
        redis: Redis,
        catalogue: Arc<Catalogue>,
        revoked: Arc<RevokedTokens>,
    ) -> Self {
        let (waiting, queue) = mpsc::channel(QUEUE_MAX);
        Self { waiting, queue: Mutex::new(queue), store, redis, catalogue, revoked }
    }

    /// Something was decided about a reservation, and committed. Never waits; a reservation that is
    /// held all the same does no harm.
    pub fn decided(&self, event: &EventId, reservation: ReservationId) {
        // The stock has changed, of which the waiting room is told too.
        self.catalogue.touch(event);
        if self.waiting.try_send((event.clone(), reservation)).is_err() {
            count("dropped", 1);
        }
    }

    /// Tells until shutdown.
    pub async fn run(&self, shutdown: CancellationToken) {
        let mut queue = self.queue.lock().await;
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            tokio::select! {
                // What is still to come is for `finish`.
                biased;
                () = shutdown.cancelled() => return,
                _ = queue.recv_many(&mut batch, BATCH) => {}
            }
            for (event, reservations) in by_event(&mut batch) {
                self.end(&event, &reservations, &shutdown).await;
            }
        }
    }

    /// Tells what was left when everything else had ended, trying once.
    pub async fn finish(&self) {
        let mut queue = self.queue.lock().await;
        let (mut batch, shut) = (Vec::new(), CancellationToken::new());
        shut.cancel();
        while let Ok(ending) = queue.try_recv() {
            batch.push(ending);
        }
        for (event, reservations) in by_event(&mut batch) {
            for reservations in reservations.chunks(BATCH) {
                self.end(&event, reservations, &shut).await;
            }
        }
    }

    async fn end(&self, event: &EventId, reservations: &[Uuid], shutdown: &CancellationToken) {
        let mut pause = RETRY_PAUSE;
        for attempt in 1..=ATTEMPTS_MAX {
            let error = match self.attempt(event, reservations).await {
                Ok(()) => return,
                Err(error) => error,
            };
            if attempt == ATTEMPTS_MAX || shutdown.is_cancelled() {
                tracing::warn!(event = %event, reservations = reservations.len(), error = %error,
                    "the waiting room was not told whose session is over: it ends with the token");
                count("given_up", reservations.len());
                return;
            }
            tracing::debug!(event = %event, error = %error, "sessions not ended yet");
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
            pause = (2 * pause).min(RETRY_PAUSE_MAX);
        }
    }

    async fn attempt(&self, event: &EventId, reservations: &[Uuid]) -> Result<(), Failed> {
        let over = async {
            sessions::over(&mut *self.store.connection().await?, event, reservations).await
        };
        let over: Vec<Session> = self.store.bounded(over).await?;
        if over.is_empty() {
            return Ok(());
        }
        let ended: Vec<Revoked> = signals::end_sessions(&self.redis, event, &over).await?;
        self.revoked.note(event, &ended);
        count("ended", ended.len());
        count("unknown", over.len() - ended.len());
        Ok(())
    }
}

fn by_event(batch: &mut Vec<(EventId, ReservationId)>) -> BTreeMap<EventId, Vec<Uuid>> {
    let mut events = BTreeMap::<EventId, Vec<Uuid>>::new();
    for (event, reservation) in batch.drain(..) {
        events.entry(event).or_default().push(reservation.0);
    }
    events
}

fn count(outcome: &'static str, sessions: usize) {
    metrics::counter!("checkout_sessions_ended_total", "outcome" => outcome)
        .increment(sessions as u64);
}
