//! Orders in line for a sector, oldest first, and whoever waits for what becomes of them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use shared::ids::{ReservationId, Subject};
use shared::problem::Problem;
use tokio::sync::oneshot;

use super::Refusal;
use super::key::IdempotencyKey;
use super::order::Order;
use super::sold_out::SoldOut;
use crate::answer::Outcome;

/// What became of an order: decided, or not, and then nothing was changed.
pub type Reply = Result<Outcome, Problem>;

type Key = (Subject, IdempotencyKey);

/// The orders for one sector, or an event's baskets of several.
#[derive(Default)]
pub struct Line {
    state: Mutex<State>,
    /// Whether somebody looks again and again whether it is still sold out.
    watched: AtomicBool,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Instant, Arc<Order>)>,
    /// Who waits for what is in line, or being written.
    callers: HashMap<Key, Callers>,
    writers: usize,
    sold_out: SoldOut,
    /// Counts the moments at which places may have come back.
    returns: u64,
}

struct Callers {
    order: Arc<Order>,
    replies: Vec<oneshot::Sender<Reply>>,
    /// Whether somebody was told to look again later, so that it has to be decided anyway.
    promised: bool,
}

/// How a line is kept.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Orders that may wait.
    pub waiting_max: usize,
    /// Writers at work at once.
    pub writers_max: usize,
    /// A further writer only begins when so many wait.
    pub further_writer_at: usize,
}

/// What comes of getting in line.
pub enum Placed {
    /// In line.
    InLine {
        /// Where to wait.
        ticket: Ticket,
        /// Whether the caller has to start another writer.
        start_writer: bool,
    },
    /// The same key is in line already, with another request.
    KeyReused,
    /// Nothing is left, by memory.
    SoldOut,
    /// Too many wait.
    Full,
}

/// A caller's place beside an order in line.
pub struct Ticket {
    line: Arc<Line>,
    order: Arc<Order>,
    reply: oneshot::Receiver<Reply>,
}

/// Some orders, taken out of the line to be written.
pub struct Taken {
    /// The orders, oldest first.
    pub orders: Vec<Arc<Order>>,
    /// How long the first of them has waited.
    pub waited: Duration,
}

impl Line {
    /// Gets in line, behind everybody else.
    pub fn place(self: &Arc<Self>, order: Order, bounds: Bounds) -> Placed {
        let (sender, reply) = oneshot::channel();
        let mut state = self.lock();
        let key = (order.sub.clone(), order.key.clone());
        if let Some(callers) = state.callers.get_mut(&key) {
            if callers.order.fingerprint != order.fingerprint {
                return Placed::KeyReused;
            }
            callers.replies.push(sender);
            let ticket = Ticket { line: self.clone(), order: callers.order.clone(), reply };
            return Placed::InLine { ticket, start_writer: false };
        }
        if state.sold_out.applies_to(&order.sub) {
            return Placed::SoldOut;
        }
        if state.waiting.len() >= bounds.waiting_max {
            return Placed::Full;
        }
        let order = Arc::new(order);
        state.waiting.push_back((Instant::now(), order.clone()));
        let callers = Callers { order: order.clone(), replies: vec![sender], promised: false };
        state.callers.insert(key, callers);
        let start_writer = state.writers == 0
            || (state.writers < bounds.writers_max
                && state.waiting.len() >= bounds.further_writer_at);
        state.writers += usize::from(start_writer);
        drop(state);
        Placed::InLine { ticket: Ticket { line: self.clone(), order, reply }, start_writer }
    }

    /// Takes what is to be written together. None when nothing waits: the caller's work has ended.
    /// What nobody waits for any more is left out.
    pub fn take(&self, orders_max: usize, bytes_max: usize) -> Option<Taken> {
        let mut state = self.lock();
        let (mut orders, mut bytes, mut oldest) = (Vec::new(), 0, None);
        while orders.len() < orders_max && bytes < bytes_max {
            let Some((since, order)) = state.waiting.pop_front() else { break };
            if state.is_wanted(&order) {
                bytes += order.bytes();
                oldest.get_or_insert(since);
                orders.push(order);
            }
        }
        let Some(oldest) = oldest else {
            state.writers -= 1;
            return None;
        };
        Some(Taken { orders, waited: oldest.elapsed() })
    }

    /// A writer ends before the line is empty.
    pub fn writer_lost(&self) {
        self.lock().writers -= 1;
    }

    /// Whether no writer is at work.
    pub fn is_at_rest(&self) -> bool {
        self.lock().writers == 0
    }

    /// Gives everybody who waits for these orders their replies.
    pub fn settle(&self, replies: impl IntoIterator<Item = (Arc<Order>, Reply)>) {
        let mut settled = Vec::new();
        let mut state = self.lock();
        for (order, reply) in replies {
            let callers = state.callers.remove(&(order.sub.clone(), order.key.clone()));
            settled.extend(callers.map(|callers| (callers.replies, reply)));
        }
        drop(state);
        for (callers, reply) in settled {
            answer(callers, reply);
        }
    }

    /// Places may have come back, or people have come to have some: memory is to look again.
    pub fn stock_changed(&self) {
        let mut state = self.lock();
        state.returns += 1;
        state.sold_out.forget_stock();
    }

    /// To be given to [`Line::looked`] after a look.
    pub fn begin_look(&self) -> u64 {
        self.lock().returns
    }

    /// What a look has found that began then: people on record, and whether there was no place.
    /// Whether anybody has asked since the one before.
    pub fn looked(&self, at: (u64, Instant), is_sold_out: bool, people: &[String]) -> bool {
        let mut state = self.lock();
        let holds = is_sold_out && state.returns == at.0;
        state.sold_out.seen(holds.then_some(at.1), people);
        state.sold_out.take_asked()
    }

    /// Whether the caller is to begin looking.
    pub fn begin_watch(&self) -> bool {
        !self.watched.swap(true, Ordering::AcqRel)
    }

    /// Nobody looks any more: memory is empty.
    pub fn end_watch(&self) {
        self.lock().sold_out = SoldOut::default();
        self.watched.store(false, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_wanted(&mut self, order: &Order) -> bool {
        let key = (order.sub.clone(), order.key.clone());
        let wanted = self.callers.get(&key).is_some_and(|callers| {
            callers.promised || callers.replies.iter().any(|reply| !reply.is_closed())
        });
        if !wanted {
            self.callers.remove(&key);
        }
        wanted
    }
}

impl Ticket {
    /// What the reservation will be called.
    pub fn id(&self) -> ReservationId {
        self.order.id
    }

    /// Waits for the reply, for at most so long. After that the order is decided even if nobody
    /// waits for it.
    pub async fn reply(mut self, wait_max: Duration) -> Result<Reply, Undecided> {
        match tokio::time::timeout(wait_max, &mut self.reply).await {
            Ok(reply) => Ok(reply.unwrap_or_else(|_| Err(Problem::internal()))),
            Err(_) => match self.promise() {
                Some(reply) => Ok(reply),
                None => Err(Undecided(self.order.id)),
            },
        }
    }

    /// Keeps the order in line without a caller. It may have been decided at this moment.
    fn promise(&mut self) -> Option<Reply> {
        let key = (self.order.sub.clone(), self.order.key.clone());
        if let Some(callers) = self.line.lock().callers.get_mut(&key) {
            callers.promised = true;
        }
        self.reply.try_recv().ok()
    }
}

/// Not decided yet.
#[derive(Debug)]
pub struct Undecided(pub ReservationId);

/// The first caller gets the outcome as it is, the others as a replay of it.
fn answer(callers: Vec<oneshot::Sender<Reply>>, reply: Reply) {
    let mut callers = callers.into_iter();
    let first = callers.next();
    for caller in callers {
        // Whoever went away gets nothing.
        let _ = caller.send(reply.clone().map(Outcome::again));
    }
    if let Some(first) = first {
        let _ = first.send(reply);
    }
}

/// What an unrecorded refusal tells the caller.
pub fn refused(refusal: Refusal) -> Reply {
    Err(refusal.into())
}
