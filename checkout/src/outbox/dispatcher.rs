//! Takes what is due from the outbox to the shop, in every instance.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::backoff::{Strain, pause};
use super::endpoint::{Endpoint, Failed};
use super::message;
use crate::clock::{Pause, random_below};
use crate::settings::ShopWebhook;
use crate::store::outbox::{self, Claim, Settled};
use crate::store::{Store, StoreError};

/// Pause between two looks while nothing is under way.
const INTERVAL: Duration = Duration::from_millis(250);
/// A claim lasts so much longer than an attempt: for the statement that claims, and the one that says
/// what became of it.
const LEASE_MARGIN: Duration = Duration::from_secs(20);

/// The dispatcher of one instance.
pub struct Dispatcher {
    store: Arc<Store>,
    endpoint: Arc<Endpoint>,
    rules: Rules,
    strain: Strain,
    rest: Pause,
    sending: JoinSet<Sent>,
    /// What the database has not been told yet.
    sent: Vec<Sent>,
    /// Whose turn it is first, among the events.
    turn: usize,
}

#[derive(Clone, Copy)]
struct Rules {
    timeout: Duration,
    lease: Duration,
    attempts_max: u32,
    first_pause: Duration,
}

/// A claim, and what came of it.
struct Sent {
    claim: Claim,
    result: Result<(), Failed>,
}

impl Dispatcher {
    /// A dispatcher, if the shop is to be told.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(store: Arc<Store>, settings: &ShopWebhook) -> anyhow::Result<Option<Self>> {
        let Some(url) = settings.url.clone() else { return Ok(None) };
        let timeout = Duration::from_millis(settings.timeout_ms);
        let rules = Rules {
            timeout,
            lease: timeout + LEASE_MARGIN,
            attempts_max: settings.attempts,
            first_pause: Duration::from_millis(settings.backoff_ms),
        };
        Ok(Some(Self {
            store,
            endpoint: Arc::new(Endpoint::new(url, settings.secrets.clone(), timeout)?),
            rules,
            strain: Strain::new(settings.concurrency as usize),
            rest: Pause::default(),
            sending: JoinSet::new(),
            sent: Vec::new(),
            turn: 0,
        }))
    }

    /// Tells the shop until shutdown. What is under way then is finished; what it has become is noted,
    /// or else it is sent again by whoever comes next.
    pub async fn run(mut self, shutdown: CancellationToken) {
        loop {
            self.settle().await;
            let ending = shutdown.is_cancelled();
            if ending && self.sending.is_empty() {
                return;
            }
            if !ending && let Err(error) = self.begin().await {
                tracing::warn!(error = %error, "the shop is not told yet, to be tried again");
            }
            tokio::select! {
                Some(sent) = self.sending.join_next() => self.note(sent),
                () = sleep(INTERVAL) => {}
                () = shutdown.cancelled(), if !ending => {}
            }
            while let Some(sent) = self.sending.try_join_next() {
                self.note(sent);
            }
        }
    }

    /// Claims as much as may be under way, a share for each event, and begins to send it.
    async fn begin(&mut self) -> Result<(), StoreError> {
        if self.free() == 0 || self.rest.is_on() {
            return Ok(());
        }
        let events = async { outbox::due_events(&mut *self.store.connection().await?).await };
        let mut events = self.store.bounded(events).await?;
        if !events.is_empty() {
            self.turn = (self.turn + 1) % events.len();
            events.rotate_left(self.turn);
        }
        let mut left = events.len();
        for event in events {
            let share = self.free().div_ceil(left);
            left -= 1;
            if share == 0 {
                break;
            }
            let asked_at = Instant::now();
            let claims = async {
                let mut connection = self.store.connection().await?;
                outbox::claim(&mut connection, &event, share, self.rules.lease).await
            };
            for claim in self.store.bounded(claims).await? {
                self.send(claim, asked_at);
            }
        }
        Ok(())
    }

    fn send(&mut self, claim: Claim, asked_at: Instant) {
        let (endpoint, rules) = (self.endpoint.clone(), self.rules);
        self.sending.spawn(async move {
            // Late, perhaps because this process was stopped: it may be somebody else's by now.
            let result = if asked_at.elapsed() + rules.timeout > rules.lease {
                Err(unsent("not sent in time"))
            } else if let Some(reservation) = &claim.reservation {
                let body = message::body(&claim.happened, reservation);
                let sending = endpoint.send(claim.happened.id, body);
                crate::clock::measured("checkout_webhook_duration_seconds", sending).await
            } else {
                Err(unsent("the reservation or its items are not there"))
            };
            Sent { claim, result }
        });
    }

    /// How many more may be begun.
    fn free(&self) -> usize {
        self.strain.slots().saturating_sub(self.sending.len() + self.sent.len())
    }

    fn note(&mut self, sent: Result<Sent, JoinError>) {
        let sent = match sent {
            Ok(sent) => sent,
            Err(error) => {
                // It is tried again when its lease is over.
                tracing::error!(error = %error, "a message's task did not end as it should");
                metrics::counter!("panics_total").increment(1);
                return;
            }
        };
        self.strain.note(sent.result.is_ok());
        let rest = self.strain.pause();
        if !rest.is_zero() {
            self.rest.begin(rest);
        }
        self.sent.push(sent);
    }

    /// Tells the database what became of the claims. What it cannot be told now is told later, or is
    /// sent again when its lease is over.
    async fn settle(&mut self) {
        while let Some(sent) = self.sent.last() {
            let settled = self.outcome(sent);
            let (store, claim) = (&self.store, &sent.claim);
            let settle =
                async { outbox::settle(&mut *store.connection().await?, claim, &settled).await };
            match store.bounded(settle).await {
                Ok(was_ours) => count(&sent.claim, &settled, was_ours),
                Err(error) => {
                    tracing::warn!(error = %error, "what the shop was told could not be noted yet");
                    return;
                }
            }
            self.sent.pop();
        }
    }

    fn outcome(&self, sent: &Sent) -> Settled {
        let Err(failed) = &sent.result else { return Settled::Delivered };
        let failures = sent.claim.attempts.saturating_add(1);
        let reason = failed.reason.clone();
        if failures >= self.rules.attempts_max {
            return Settled::Dead { reason };
        }
        let (first, spread) = (self.rules.first_pause, random_below(1_001));
        Settled::Failed { reason, pause: pause(first, failures, spread, failed.retry_after) }
    }
}

fn unsent(reason: &str) -> Failed {
    Failed { reason: reason.to_owned(), retry_after: None }
}

fn count(claim: &Claim, settled: &Settled, was_ours: bool) {
    let id = claim.happened.id;
    match settled {
        Settled::Dead { reason } if was_ours => {
            tracing::error!(event = %claim.event, message = %id, reason, "given up: the shop was not told");
        }
        Settled::Failed { reason, .. } => {
            tracing::warn!(event = %claim.event, message = %id, reason, "the shop did not take a message");
        }
        _ => {}
    }
    let outcome = if was_ours { settled.name() } else { "lost" };
    metrics::counter!("checkout_webhooks_total", "outcome" => outcome).increment(1);
}
