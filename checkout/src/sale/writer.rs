//! A writer: an owned task that takes what has queued and writes it together. While it commits,
//! orders queue; then it takes all of them at once. So the more people come, the more are written
//! together, and nobody waits for a timer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use shared::ids::{EventId, SectorId};
use shared::problem::Problem;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::lease_turn::Turn;
use super::line::{Line, Reply, refused};
use super::order::Order;
use super::receipt::Receipts;
use super::sold_out::PEOPLE_MAX;
use crate::room::queue_delay::QueueDelay;
use crate::store::batch::{Batch, Decided};
use crate::store::idempotency::{Keyed, once};
use crate::store::reserve::Reserve;
use crate::store::{Store, StoreError, read, transaction};
use crate::tasks::Owned;

/// Orders written together.
const BATCH_ORDERS_MAX: usize = 512;
/// Bytes sent for them.
const BATCH_BYTES_MAX: usize = 1 << 20;
/// For how long a batch is tried again when Postgres cannot be asked.
const PATIENCE: Duration = Duration::from_secs(2);
/// The pause in between.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// How often a sector without places is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// Looks after which nobody has asked any more and looking ends: 5 seconds.
const LOOKS_UNASKED_MAX: u32 = 25;
/// How far behind its `now()` a transaction may commit, and more: what a look asks for again.
const LOOK_OVERLAP_SECONDS: f64 = 15.0;

/// A line with what its writers need.
pub(super) struct Desk {
    pub(super) event: EventId,
    /// None for baskets of several sectors, which are written one by one.
    pub(super) sector: Option<SectorId>,
    pub(super) line: Arc<Line>,
    pub(super) turn: Option<Turn>,
    pub(super) delay: Arc<QueueDelay>,
    pub(super) store: Arc<Store>,
    pub(super) reads: Arc<Store>,
    /// The threads of the requests.
    pub(super) requests: Handle,
    pub(super) receipts: Receipts,
    pub(super) shutdown: CancellationToken,
}

/// A writer at work. However it ends, what it has taken is answered.
struct Shift {
    desk: Arc<Desk>,
    taken: Vec<Arc<Order>>,
    is_over: bool,
}

impl Drop for Shift {
    fn drop(&mut self) {
        if !self.is_over {
            // A panic, or a process that ends before its work is done.
            if std::thread::panicking() {
                tracing::error!("a writer panicked");
                metrics::counter!("panics_total").increment(1);
            }
            let lost = self.taken.drain(..).map(|order| (order, Err(Problem::internal())));
            self.desk.line.settle(lost);
            self.desk.line.writer_lost();
        }
    }
}

impl Desk {
    /// Writes until nothing is left in line.
    pub(super) async fn write(self: Arc<Self>, owned: Owned) {
        let mut shift = Shift { desk: self.clone(), taken: Vec::new(), is_over: false };
        let orders_max = if self.sector.is_some() { BATCH_ORDERS_MAX } else { 1 };
        while let Some(taken) = self.line.take(orders_max, BATCH_BYTES_MAX) {
            shift.taken.clone_from(&taken.orders);
            if let Some(turn) = &self.turn {
                turn.begin_batch().await;
            }
            self.delay.note(taken.waited);
            metrics::histogram!("checkout_queue_delay_duration_seconds").record(taken.waited);
            match self.sector {
                Some(sector) => self.write_batch(&owned, sector, taken.orders).await,
                None => self.write_baskets(&owned, taken.orders).await,
            }
            shift.taken.clear();
        }
        shift.is_over = true;
        if let Some(turn) = self.turn.as_ref().filter(|_| self.line.is_at_rest()) {
            turn.end().await;
        }
    }

    /// One transaction for all; when something is wrong with it, one for each half, and so on, so
    /// that one bad order fails alone.
    async fn write_batch(
        self: &Arc<Self>,
        owned: &Owned,
        sector: SectorId,
        orders: Vec<Arc<Order>>,
    ) {
        let mut parts = vec![orders];
        while let Some(mut orders) = parts.pop() {
            #[expect(clippy::cast_precision_loss, reason = "a batch has at most 512 orders")]
            metrics::histogram!("checkout_batch_orders").record(orders.len() as f64);
            let batch = Batch {
                event: self.event.clone(),
                sector,
                orders: orders.clone(),
                receipts: self.receipts.clone(),
            };
            let began = Instant::now();
            let written = loop {
                match transaction::run(owned, &self.store, &batch).await {
                    Err(error) if again(&error, began).await => {}
                    written => break written,
                }
            };
            match written {
                Ok(decided) => self.answer(owned, orders, decided),
                Err(error) if orders.len() > 1 && is_about_an_order(&error) => {
                    tracing::debug!(error = %error, orders = orders.len(), "batch to be halved");
                    metrics::counter!("checkout_batches_halved_total").increment(1);
                    let younger = orders.split_off(orders.len() / 2);
                    parts.push(younger);
                    parts.push(orders);
                }
                Err(error) => {
                    let problem = Problem::from(error);
                    let replies = orders.into_iter().map(|order| (order, Err(problem.clone())));
                    self.line.settle(replies);
                }
            }
        }
    }

    fn answer(self: &Arc<Self>, _: &Owned, orders: Vec<Arc<Order>>, decided: Decided) {
        if decided.created > 0 {
            self.line.stock_changed();
        }
        let watch = decided.sold_out && decided.available == 0 && self.line.begin_watch();
        let replies = decided.outcomes.into_iter().map(|outcome| match outcome {
            Ok(outcome) => Ok(outcome),
            Err(refusal) => refused(refusal),
        });
        self.line.settle(orders.into_iter().zip(replies));
        if watch {
            // Reads only, so that it needs no task that owns it to the end.
            let watch = self.shutdown.clone().run_until_cancelled_owned(self.clone().watch());
            self.requests.spawn(watch);
        }
    }

    async fn write_baskets(&self, owned: &Owned, orders: Vec<Arc<Order>>) {
        for order in orders {
            let keyed = Keyed {
                event: order.event.clone(),
                sub: Some(order.sub.clone()),
                key: order.key.clone(),
                fingerprint: order.fingerprint,
            };
            let receipts = self.receipts.clone();
            let work = Reserve { keyed, order: order.clone(), receipts };
            let began = Instant::now();
            let reply: Reply = loop {
                match once(owned, &self.store, &work.keyed, &work).await {
                    Err(error) if again(&error, began).await => {}
                    written => break written.map_err(Problem::from),
                }
            };
            self.line.settle([(order, reply)]);
        }
    }

    /// Looks again and again, as long as nothing is left and people ask.
    async fn watch(self: Arc<Self>) {
        let Some(sector) = self.sector else { return };
        let (mut since, mut unasked) = (None, 0);
        while unasked < LOOKS_UNASKED_MAX {
            let at = (self.line.begin_look(), Instant::now());
            let look = async {
                let mut connection = self.reads.connection().await?;
                let overlap = LOOK_OVERLAP_SECONDS;
                read::look(&mut connection, &self.event, sector, (since, overlap)).await
            };
            let Ok(look) = self.reads.bounded(look).await else { break };
            let asked = self.line.looked(at, look.available == 0, &look.people);
            if look.available > 0 || look.people.len() >= PEOPLE_MAX {
                break;
            }
            since = Some(look.at);
            unasked = if asked { 0 } else { unasked + 1 };
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        self.line.end_watch();
    }
}

/// Whether to try again, after a pause, when Postgres could not be asked: nothing was changed then,
/// and with all connections busy, or one being made, a moment later it may go well.
async fn again(error: &StoreError, began: Instant) -> bool {
    let again = matches!(error, StoreError::Unavailable(_)) && began.elapsed() < PATIENCE;
    if again {
        tokio::time::sleep(RETRY_PAUSE).await;
    }
    again
}

/// Whether the same might go well without one of the orders. When Postgres is away it would not.
fn is_about_an_order(error: &StoreError) -> bool {
    matches!(error, StoreError::Unexpected(_) | StoreError::Conflict)
}
