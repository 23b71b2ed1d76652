//! What the baselines do with an order.

pub(crate) mod lock;
pub(crate) mod no_db;
pub(crate) mod table;

use std::pin::Pin;

use checkout::answer::Outcome;
use checkout::sale::order::Order;
use checkout::store::idempotency::Keyed;
use shared::problem::Problem;

pub(crate) type Decision<'a> = Pin<Box<dyn Future<Output = Result<Outcome, Problem>> + Send + 'a>>;

/// Decides an order.
pub(crate) trait Back: Send + Sync {
    fn decide(&self, order: Order) -> Decision<'_>;
}

fn keyed(order: &Order) -> Keyed {
    Keyed {
        event: order.event.clone(),
        sub: Some(order.sub.clone()),
        key: order.key.clone(),
        fingerprint: order.fingerprint,
    }
}
