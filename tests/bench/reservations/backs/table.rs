//! Baseline (b): a durable queue table. Each request inserts its order, in a commit of its own; a worker
//! takes 200 at a time out of the table and writes them, in one transaction, by the product's own
//! statements. It is woken in memory, which is better than a queue between processes could do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use checkout::answer::Outcome;
use checkout::app::App;
use checkout::sale::order::Order;
use checkout::store::StoreError;
use checkout::store::batch::Batch;
use checkout::store::transaction::{self, Work};
use checkout::tasks::Owned;
use shared::ids::SectorId;
use shared::problem::Problem;
use sqlx::{PgConnection, PgPool};
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{Back, Decision};

const BATCH: i64 = 200;
/// Requests insert over as many connections.
const CONNECTIONS: u32 = 32;
const MAKE: &str = "CREATE TABLE order_queue (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id uuid NOT NULL, event_id text NOT NULL, sub text NOT NULL, key text NOT NULL,
    fingerprint bytea NOT NULL, sector_id uuid NOT NULL, quantity integer NOT NULL
)";
const INSERT: &str = "INSERT INTO order_queue
    (order_id, event_id, sub, key, fingerprint, sector_id, quantity)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
const TAKE: &str = "DELETE FROM order_queue WHERE place = ANY (ARRAY(
        SELECT place FROM order_queue ORDER BY place LIMIT $1 FOR UPDATE SKIP LOCKED
    )) RETURNING order_id";

type Caller = (Arc<Order>, oneshot::Sender<Result<Outcome, Problem>>);
type Callers = Arc<Mutex<HashMap<Uuid, Caller>>>;

pub(crate) struct QueueTable {
    pool: PgPool,
    callers: Callers,
    more: Arc<Notify>,
    sector: SectorId,
}

/// One batch out of the table.
struct Drain {
    app: Arc<App>,
    callers: Callers,
    sector: SectorId,
}

type Drained = Vec<(Uuid, Result<Outcome, Problem>)>;

impl Work for Drain {
    type Output = Drained;

    async fn run(&self, connection: &mut PgConnection) -> Result<Drained, StoreError> {
        let ids: Vec<Uuid> =
            sqlx::query_scalar(TAKE).bind(BATCH).fetch_all(&mut *connection).await?;
        let orders: Vec<Arc<Order>> = {
            let callers = self.callers.lock().expect("no panic");
            ids.iter().filter_map(|id| callers.get(id).map(|caller| caller.0.clone())).collect()
        };
        let Some(first) = orders.first() else { return Ok(Vec::new()) };
        let names: Vec<Uuid> = orders.iter().map(|order| order.id.0).collect();
        let batch = Batch {
            event: first.event.clone(),
            sector: self.sector,
            orders,
            receipts: self.app.receipts.clone(),
        };
        let decided = batch.run(connection).await?;
        let outcomes = decided.outcomes.into_iter().map(|outcome| outcome.map_err(Problem::from));
        Ok(names.into_iter().zip(outcomes).collect())
    }
}

impl QueueTable {
    pub(crate) async fn open(
        app: Arc<App>,
        database: &str,
        sector: SectorId,
        shutdown: &CancellationToken,
    ) -> anyhow::Result<Arc<Self>> {
        let options = sqlx::postgres::PgPoolOptions::new().max_connections(CONNECTIONS);
        let pool = options.connect(database).await?;
        sqlx::query(MAKE).execute(&pool).await?;
        let (callers, more) = (Callers::default(), Arc::new(Notify::new()));
        let back = Arc::new(Self { pool, callers: callers.clone(), more: more.clone(), sector });
        let drain = Drain { app: app.clone(), callers, sector };
        let shutdown = shutdown.clone();
        app.tasks.background(|owned| drain.run_all(owned, more, shutdown));
        Ok(back)
    }
}

impl Drain {
    async fn run_all(self, owned: Owned, more: Arc<Notify>, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            let drained = transaction::run(&owned, &self.app.store, &self).await;
            let drained = drained.unwrap_or_default();
            if drained.is_empty() {
                shutdown.run_until_cancelled(more.notified()).await;
                continue;
            }
            let mut callers = self.callers.lock().expect("no panic");
            for (id, outcome) in drained {
                if let Some((_, caller)) = callers.remove(&id) {
                    // Whoever went away gets nothing.
                    let _ = caller.send(outcome);
                }
            }
        }
    }
}

impl Back for QueueTable {
    fn decide(&self, order: Order) -> Decision<'_> {
        Box::pin(async move {
            let (order, (sender, outcome)) = (Arc::new(order), oneshot::channel());
            let caller = (order.clone(), sender);
            self.callers.lock().expect("no panic").insert(order.id.0, caller);
            sqlx::query(INSERT)
                .bind(order.id.0)
                .bind(order.event.as_str())
                .bind(order.sub.as_str())
                .bind(order.key.as_str())
                .bind(order.fingerprint.as_bytes())
                .bind(self.sector.0)
                .bind(order.basket.total())
                .execute(&self.pool)
                .await
                .map_err(|_| Problem::unavailable())?;
            self.more.notify_one();
            outcome.await.map_err(|_| Problem::unavailable())?
        })
    }
}
