//! Baseline (a): one transaction per request, behind a fair lock on the sector.

use std::sync::Arc;

use checkout::app::App;
use checkout::sale::order::Order;
use checkout::store::idempotency::once;
use checkout::store::reserve::Reserve;
use tokio::sync::Mutex;

use super::{Back, Decision, keyed};

pub(crate) struct OneByOne {
    app: Arc<App>,
    turn: Arc<Mutex<()>>,
}

impl OneByOne {
    pub(crate) fn new(app: Arc<App>) -> Self {
        Self { app, turn: Arc::default() }
    }
}

impl Back for OneByOne {
    fn decide(&self, order: Order) -> Decision<'_> {
        let (app, turn) = (self.app.clone(), self.turn.clone());
        let keyed = keyed(&order);
        let work = Reserve { keyed, order: Arc::new(order), receipts: app.receipts.clone() };
        Box::pin(async move {
            let outcome = self.app.tasks.run(|owned| async move {
                let _turn = turn.lock().await;
                once(&owned, &app.store, &work.keyed, &work).await
            });
            Ok(outcome.await??)
        })
    }
}
