//! The writers of this instance: one for each sector that people want, made when an order comes and
//! ended when none is left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use shared::ids::{EventId, SectorId};
use shared::problem::Problem;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::Refusal;
use super::lease::Leases;
use super::lease_turn::Turn;
use super::line::{Bounds, Placed, Ticket};
use super::order::Order;
use super::receipt::Receipts;
use super::writer::Desk;
use crate::error::queue_full;
use crate::room::queue_delay::QueueDelays;
use crate::runtime::WriterThreads;
use crate::store::Store;
use crate::tasks::Tasks;

/// Writers of one sector in this instance, and so connections that one sector takes up. With two,
/// one prepares its batch while the other commits.
const WRITERS_MAX: usize = 2;
/// The second one is not worth its transaction before so many wait.
const SECOND_WRITER_AT: usize = 64;
/// Orders that may wait for one sector, however few places are left: as many as are refused in a
/// fraction of a second.
const WAITING_MIN: usize = 4_096;
/// And however many places are left: as many as are written in a second or two.
const WAITING_MAX: usize = 20_000;
/// All lines of this instance.
pub struct Writers {
    /// The writers' own.
    store: Arc<Store>,
    /// For looking, among the requests.
    reads: Arc<Store>,
    threads: WriterThreads,
    receipts: Receipts,
    leases: Option<Arc<Leases>>,
    delays: Arc<QueueDelays>,
    shutdown: CancellationToken,
    // Grows with the sectors that exist, since only those are asked for.
    desks: Mutex<Desks>,
}

type Desks = HashMap<(EventId, Option<SectorId>), Arc<Desk>>;

impl Writers {
    /// No line yet. `leases`: none to leave other instances to meet at the row in Postgres.
    /// `store`: the writers' own; `reads`: the one of everybody else.
    pub fn new(
        (store, reads, threads): (Store, Arc<Store>, WriterThreads),
        receipts: Receipts,
        leases: Option<Leases>,
        delays: Arc<QueueDelays>,
    ) -> Self {
        let (leases, shutdown) = (leases.map(Arc::new), CancellationToken::new());
        let (store, desks) = (Arc::new(store), Mutex::default());
        Self { store, reads, threads, receipts, leases, delays, shutdown, desks }
    }

    /// Gets an order in line. `available`: places left in its sectors, as far as is known.
    pub fn place(&self, order: Order, available: i32, tasks: &Tasks) -> Result<Ticket, Problem> {
        let desk = self.desk(&order.event, order.sector());
        let wanted = usize::try_from(available).unwrap_or(0).saturating_mul(2);
        let bounds = Bounds {
            waiting_max: wanted.clamp(WAITING_MIN, WAITING_MAX),
            writers_max: WRITERS_MAX,
            further_writer_at: if desk.sector.is_some() { SECOND_WRITER_AT } else { 1 },
        };
        match desk.line.place(order, bounds) {
            Placed::InLine { ticket, start_writer } => {
                if start_writer {
                    tasks.background_on(self.threads.handle(), |owned| desk.write(owned));
                }
                Ok(ticket)
            }
            Placed::KeyReused => Err(Refusal::KeyReused.into()),
            Placed::SoldOut => Err(Refusal::SoldOut.into()),
            Placed::Full => Err(queue_full()),
        }
    }

    /// Places of an event may have come back: what memory says of its sectors is forgotten.
    pub fn stock_changed(&self, event: &EventId) {
        let desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        for desk in desks.values().filter(|desk| desk.event == *event) {
            desk.line.stock_changed();
        }
    }

    /// Ends what would go on by itself. Orders in line are written still.
    pub fn shut_down(&self) {
        self.shutdown.cancel();
    }

    /// Makes the writers' connections, so that no rush has to wait for them.
    pub async fn warm_up(&self) {
        let store = self.store.clone();
        // They belong to the threads that make them. A panic there would have been reported.
        let _ = self.threads.handle().spawn(async move { store.warm_up().await }).await;
    }

    /// Sets the gauges of their connections.
    pub fn measure(&self) {
        self.store.measure("writers");
    }

    /// Closes them.
    pub async fn close(&self) {
        self.store.close().await;
    }

    fn desk(&self, event: &EventId, sector: Option<SectorId>) -> Arc<Desk> {
        let mut desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let turn = match (&self.leases, sector) {
                (Some(leases), Some(sector)) => {
                    Some(Turn::new(leases.clone(), event.clone(), sector))
                }
                _ => None,
            };
            Arc::new(Desk {
                event: event.clone(),
                sector,
                line: Arc::default(),
                turn,
                delay: self.delays.of(event),
                store: self.store.clone(),
                reads: self.reads.clone(),
                requests: Handle::current(),
                receipts: self.receipts.clone(),
                shutdown: self.shutdown.clone(),
            })
        };
        desks.entry((event.clone(), sector)).or_insert_with(new).clone()
    }
}
