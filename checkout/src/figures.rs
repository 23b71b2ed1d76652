//! What this instance has counted of each event since it started, and what it has last read of it, for
//! whoever watches a sale.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use shared::ids::EventId;
use uuid::Uuid;

use crate::fresh::Fresh;
use crate::store::figures::{self, Stored};
use crate::store::{Store, StoreError};

/// How old what was read may be, however many ask.
const AGE_MAX: Duration = Duration::from_secs(1);

/// How often something came out so.
pub type Counts = BTreeMap<&'static str, u64>;

/// The figures of one instance.
pub struct Figures {
    /// Names this run of this instance: counts begin anew with it.
    pub instance: Uuid,
    // Only of events that somebody was let in to, or that exist.
    events: Mutex<HashMap<EventId, Arc<OfEvent>>>,
}

/// The figures of one event.
#[derive(Default)]
pub struct OfEvent {
    counted: Mutex<Counted>,
    stored: Fresh<Stored>,
}

/// What was counted.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// Outcomes by action: `reserve`, `confirm`, `cancel`, `extend`, `pay`.
    pub reservations: BTreeMap<&'static str, Counts>,
    /// What was heard of payments.
    pub payments: Counts,
}

impl Default for Figures {
    fn default() -> Self {
        Self { instance: Uuid::new_v4(), events: Mutex::default() }
    }
}

impl Figures {
    /// An event's.
    pub fn of(&self, event: &EventId) -> Arc<OfEvent> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(figures) = events.get(event) {
            return figures.clone();
        }
        events.entry(event.clone()).or_default().clone()
    }
}

impl OfEvent {
    /// Counts what came of a request.
    pub fn note(&self, action: &'static str, outcome: &'static str) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.reservations.entry(action).or_default().entry(outcome).or_default() += 1;
    }

    /// Counts what was heard of a payment.
    pub fn note_payment(&self, outcome: &'static str) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.payments.entry(outcome).or_default() += 1;
    }

    /// What was counted so far.
    pub fn counted(&self) -> Counted {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is in the database, at most a second old.
    pub async fn stored(&self, store: &Store, event: &EventId) -> Result<Arc<Stored>, StoreError> {
        let load = async { figures::read(&mut *store.connection().await?, event).await };
        self.stored.get(AGE_MAX, store.bounded(load)).await
    }
}
