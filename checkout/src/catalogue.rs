//! What this instance knows of the events without asking, at most a second old.
//!
//! One request at a time asks the database for an event, the others wait for that answer, and a
//! failure is an answer too: a crowd costs one query a second, whatever it asks for. Names that are
//! no events are told from a list of all events, so that made-up names cost no query each.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::ids::{EventId, SectorId};
use tokio::sync::RwLock;

use crate::store::read::{self, Event, Sector};
use crate::store::{Store, StoreError};

/// How old what is answered may be.
const AGE_MAX: Duration = Duration::from_secs(1);
/// A name that is not on the list may have been added since.
const MISS_AGE_MAX: Duration = Duration::from_millis(100);
/// How old it may be while Postgres cannot be asked. What is decided is decided by what is true then.
const STALE_AGE_MAX: Duration = Duration::from_secs(10);
/// For how long a failure is everybody's answer.
const FAILURE_AGE_MAX: Duration = Duration::from_millis(200);

/// An event with its sectors.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Its settings.
    pub event: Event,
    /// Its sectors, ascending.
    pub sectors: Vec<Sector>,
}

impl Listing {
    /// Whether the event has this sector.
    pub fn has(&self, sector: SectorId) -> bool {
        self.find(sector).is_some()
    }

    /// Places left in a sector, when this was asked for.
    pub fn available(&self, sector: SectorId) -> i32 {
        self.find(sector).map_or(0, |sector| sector.available)
    }

    fn find(&self, id: SectorId) -> Option<&Sector> {
        let place = self.sectors.binary_search_by_key(&id.0, |sector| sector.sector_id).ok()?;
        self.sectors.get(place)
    }
}

type Slot = Arc<Fresh<Option<Arc<Listing>>>>;

/// The events.
pub struct Catalogue {
    store: Arc<Store>,
    names: Fresh<HashSet<EventId>>,
    // Only of events that exist; with the time at which each was last touched.
    events: Mutex<HashMap<EventId, (Instant, Slot)>>,
}

impl Catalogue {
    /// Nothing is known yet.
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, names: Fresh::default(), events: Mutex::default() }
    }

    /// The event of that name, if there is one.
    pub async fn event(&self, id: &EventId) -> Result<Option<Arc<Listing>>, StoreError> {
        if !self.is_event(id).await? {
            return Ok(None);
        }
        let load = async {
            let mut connection = self.store.connection().await?;
            let Some(event) = read::event(&mut connection, id).await? else { return Ok(None) };
            let sectors = read::sectors(&mut connection, id).await?;
            Ok(Some(Arc::new(Listing { event, sectors })))
        };
        let listing = self.slot(id).get(AGE_MAX, self.store.bounded(load)).await?;
        Ok(listing.as_ref().clone())
    }

    /// Asks anew next time: the event has been changed here.
    pub async fn forget(&self, id: &EventId) {
        self.names.forget().await;
        self.slot(id).forget().await;
    }

    /// Something has happened in this event, which exists.
    pub fn touch(&self, id: &EventId) {
        self.slot(id);
    }

    /// The events that were asked for here, or in which something has happened, not longer ago.
    pub fn touched(&self, within: Duration) -> Vec<EventId> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let touched = events.iter().filter(|(_, (at, _))| at.elapsed() < within);
        touched.map(|(id, _)| id.clone()).collect()
    }

    async fn is_event(&self, id: &EventId) -> Result<bool, StoreError> {
        let known = self.names.get(AGE_MAX, self.load_names()).await?.contains(id);
        Ok(known || self.names.get(MISS_AGE_MAX, self.load_names()).await?.contains(id))
    }

    async fn load_names(&self) -> Result<HashSet<EventId>, StoreError> {
        let load = async { read::event_ids(&mut *self.store.connection().await?).await };
        Ok(self.store.bounded(load).await?.into_iter().collect())
    }

    fn slot(&self, id: &EventId) -> Slot {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let (touched, slot) = events.entry(id.clone()).or_insert_with(|| (now, Slot::default()));
        *touched = now;
        slot.clone()
    }
}

/// A value that is loaded again when it is too old, by one caller for all.
struct Fresh<T>(RwLock<Known<T>>);

/// What came of loading it.
struct Known<T> {
    /// The last value, and when it was asked for.
    value: Option<(Instant, Arc<T>)>,
    /// When it could not be loaded, if that was the last attempt.
    failed_at: Option<Instant>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { value: None, failed_at: None }
    }
}

impl<T> Default for Fresh<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> Fresh<T> {
    /// The value, at most `age_max` old, or [`STALE_AGE_MAX`] when it cannot be loaded. `load` is
    /// only run when it is needed. It is a read: a caller that goes away may drop it.
    async fn get(
        &self,
        age_max: Duration,
        load: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<Arc<T>, StoreError> {
        if let Some(answer) = self.0.read().await.answer(age_max) {
            return answer;
        }
        let mut known = self.0.write().await;
        // Somebody else may have loaded it meanwhile.
        if let Some(answer) = known.answer(age_max) {
            return answer;
        }
        let asked_at = Instant::now();
        match load.await {
            Ok(value) => {
                let value = Arc::new(value);
                *known = Known { value: Some((asked_at, value.clone())), failed_at: None };
                Ok(value)
            }
            Err(error) => {
                known.failed_at = Some(Instant::now());
                known.fresh(STALE_AGE_MAX).ok_or(error)
            }
        }
    }

    async fn forget(&self) {
        *self.0.write().await = Known::default();
    }
}

impl<T> Known<T> {
    fn fresh(&self, age_max: Duration) -> Option<Arc<T>> {
        self.value.as_ref().filter(|(at, _)| at.elapsed() < age_max).map(|(_, value)| value.clone())
    }

    /// What can be said without loading it.
    fn answer(&self, age_max: Duration) -> Option<Result<Arc<T>, StoreError>> {
        if let Some(value) = self.fresh(age_max) {
            return Some(Ok(value));
        }
        self.failed_at.filter(|at| at.elapsed() < FAILURE_AGE_MAX)?;
        Some(self.fresh(STALE_AGE_MAX).ok_or(StoreError::Unavailable(None)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_crowd_asks_once_and_shares_the_answer_or_the_failure() {
        let asked = AtomicU32::new(0);
        let load = async |answer: Result<u32, StoreError>| {
            asked.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            answer
        };
        let slot = Fresh::default();
        let one = || slot.get(AGE_MAX, load(Ok(7)));
        let (first, second, third) = tokio::join!(one(), one(), one());
        assert_eq!([first, second, third].map(|got| got.ok().as_deref().copied()), [Some(7); 3]);
        assert_eq!(asked.load(Ordering::Relaxed), 1);

        slot.forget().await;
        let one = || slot.get(AGE_MAX, load(Err(StoreError::Conflict)));
        let (first, second) = tokio::join!(one(), one());
        assert!(first.is_err() && second.is_err());
        assert_eq!(asked.load(Ordering::Relaxed), 2);

        let slot = Fresh::default();
        assert!(slot.get(AGE_MAX, load(Ok(7))).await.is_ok());
        let stale = slot.get(Duration::ZERO, load(Err(StoreError::Conflict))).await;
        assert_eq!(stale.ok().as_deref().copied(), Some(7), "better than nothing");
    }
}
