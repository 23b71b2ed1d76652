//! Baseline (c): the database taken out. Orders go through a queue to one task, which decides them in
//! memory by the product's rules and writes the product's answers.

use std::collections::HashMap;
use std::sync::Arc;

use checkout::answer::{Answer, Outcome};
use checkout::app::App;
use checkout::sale::Refusal;
use checkout::sale::decide::{Ask, Decision as Decided, Stock, decide};
use checkout::sale::hold::State;
use checkout::sale::order::Order;
use checkout::sale::receipt::{Item, Reservation};
use shared::ids::SectorId;
use shared::problem::Problem;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{Back, Decision};

type Waiting = (Order, oneshot::Sender<Outcome>);

pub(crate) struct Memory {
    queue: mpsc::Sender<Waiting>,
}

struct Books {
    app: Arc<App>,
    sector: SectorId,
    available: i32,
}

impl Memory {
    pub(crate) fn open(
        app: Arc<App>,
        sector: SectorId,
        capacity: u32,
        shutdown: &CancellationToken,
    ) -> Arc<Self> {
        let (queue, mut waiting) = mpsc::channel::<Waiting>(20_000);
        let available = i32::try_from(capacity).unwrap_or(i32::MAX);
        let mut books = Books { app, sector, available };
        let work = async move {
            let mut batch = Vec::new();
            while waiting.recv_many(&mut batch, 512).await > 0 {
                books.decide(std::mem::take(&mut batch));
            }
        };
        tokio::spawn(shutdown.clone().run_until_cancelled_owned(work));
        Arc::new(Self { queue })
    }
}

impl Books {
    fn decide(&mut self, batch: Vec<Waiting>) {
        let asks: Vec<Ask<'_>> = batch
            .iter()
            .map(|(order, _)| Ask {
                sub: order.sub.as_str(),
                key: order.key.as_str(),
                fingerprint: order.fingerprint,
                quantity: order.basket.total(),
                recorded: None,
            })
            .collect();
        let mut stock =
            Stock { available: self.available, max_per_user: 10_000, totals: HashMap::new() };
        let decisions = decide(&asks, &mut stock);
        self.available = stock.available;
        for ((order, caller), decision) in batch.into_iter().zip(decisions) {
            let answer = match decision {
                Decided::Create => self.created(&order),
                _ => Answer::refused(Refusal::SoldOut),
            };
            // Whoever went away gets nothing.
            let _ = caller.send(Outcome::First(answer));
        }
    }

    fn created(&self, order: &Order) -> Answer {
        let now = time::OffsetDateTime::now_utc();
        let quantity = order.basket.total();
        let reservation = Reservation {
            id: order.id,
            event: order.event.clone(),
            sub: order.sub.clone(),
            state: State::Held,
            items: vec![Item { sector_id: self.sector, quantity, price: 4_500 }],
            total: i64::from(quantity) * 4_500,
            currency: "EUR".to_owned(),
            expires_at: now,
            created_at: now,
        };
        Answer::created(order.id, self.app.receipts.body(&reservation))
    }
}

impl Back for Memory {
    fn decide(&self, order: Order) -> Decision<'_> {
        Box::pin(async move {
            let (sender, outcome) = oneshot::channel();
            self.queue.send((order, sender)).await.map_err(|_| Problem::unavailable())?;
            outcome.await.map_err(|_| Problem::unavailable())
        })
    }
}
