//! What this instance knows of the events without asking, at most a second old.
//!
//! A crowd costs one query a second, whatever it asks for ([`Fresh`]). Names that are no events are told
//! from a list of all events, so that made-up names cost no query each.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::ids::{EventId, SectorId};

use crate::fresh::Fresh;
use crate::store::read::{self, Event, Sector};
use crate::store::{Store, StoreError};

/// How old what is answered may be.
const AGE_MAX: Duration = Duration::from_secs(1);
/// A name that is not on the list may have been added since.
const MISS_AGE_MAX: Duration = Duration::from_millis(100);

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
