//! Tells the waiting room how the sale goes: what is left, what is in baskets, how long people wait.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use shared::ids::EventId;
use shared::signals::{self, Stock};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::app::App;
use crate::store::StoreError;
use crate::store::read::{self, Places};

/// How often it is told.
const INTERVAL: Duration = Duration::from_millis(500);
/// An event is told of for so long after somebody has asked for it or something was decided in it.
const TOUCHED_WITHIN: Duration = Duration::from_secs(600);

/// Events told of at once.
const AT_ONCE: usize = 100;

/// The news of one instance.
pub struct StockNews {
    app: Arc<App>,
    instance: Uuid,
    /// What was last read; with Postgres away it is told again, with the wait of this moment.
    known: HashMap<EventId, Places>,
    /// Whether all events were told of. Whatever was decided before a crash may not have been, and a
    /// room that believes that nothing is left sends nobody who would touch the event.
    told_all: bool,
}

impl StockNews {
    /// The news of a new instance.
    pub fn new(app: Arc<App>) -> Self {
        Self { app, instance: Uuid::new_v4(), known: HashMap::new(), told_all: false }
    }

    /// Tells until shutdown.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let mut rounds = tokio::time::interval(INTERVAL);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = rounds.tick() => {}
            }
            if let Err(error) = self.read().await {
                tracing::debug!(error = %error, "stock not read, telling what is known");
            }
            self.tell_known().await;
        }
    }

    async fn tell_known(&mut self) {
        let known: Vec<_> = self.known.iter().collect();
        let mut told_all = !known.is_empty();
        for some in known.chunks(AT_ONCE) {
            let told = some.iter().map(|(event, places)| self.tell(event, **places));
            told_all &= join_all(told).await.into_iter().all(|told| told);
        }
        self.told_all |= told_all;
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let touched = self.app.catalogue.touched(TOUCHED_WITHIN);
        let store = &self.app.store;
        let places = async {
            let events = self.told_all.then_some(touched.as_slice());
            if events.is_some_and(<[_]>::is_empty) {
                return Ok(Vec::new());
            }
            read::places(&mut *store.connection().await?, events).await
        };
        self.known = store.bounded(places).await?.into_iter().collect();
        Ok(())
    }

    /// Whether Redis has heard it.
    async fn tell(&self, event: &EventId, places: Places) -> bool {
        let delay = self.app.queue_delays.of(event).current();
        measure(event, places, delay);
        let stock = Stock {
            left: places.left,
            held: places.held,
            queue_delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
        };
        let told = signals::publish(&self.app.redis, event, self.instance, stock).await;
        if let Err(error) = &told {
            tracing::debug!(event = %event, error = %error, "stock not told");
        }
        told.is_ok()
    }
}

#[expect(clippy::cast_precision_loss, reason = "places are far below 2^53")]
fn measure(event: &EventId, places: Places, delay: Duration) {
    let gauge = |name: &'static str, value: f64| {
        metrics::gauge!(name, "event" => event.to_string()).set(value);
    };
    gauge("checkout_places_left", places.left as f64);
    gauge("checkout_places_held", places.held as f64);
    gauge("checkout_queue_delay_seconds", delay.as_secs_f64());
}
