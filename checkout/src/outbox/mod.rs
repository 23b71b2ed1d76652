//! Tells the shop what happens to reservations, by signed webhooks in the format of
//! [Standard Webhooks](https://www.standardwebhooks.com).
//!
//! Whatever changes a reservation writes a row to `reservation_events` in its own transaction. The
//! [`dispatcher`] of each instance claims what is due, each row for the time of a lease, makes its
//! [`message`], and sends it to the shop's [`endpoint`], at least once. Of one reservation nothing is
//! sent before all that came earlier is delivered or given up. [`upkeep`] forgets what was delivered.
//!
//! Architecture invariant: a claim and its end are one statement each, and nothing is sent in between
//! with a connection in hand. All of a dispatcher's statements go one after the other, so that telling
//! the shop takes up one connection, however slow the shop is.

pub mod backoff;
pub mod dispatcher;
pub mod endpoint;
pub mod kind;
pub mod message;
pub mod secret;
pub mod upkeep;

use std::sync::Arc;

use anyhow::Context;
use tokio_util::sync::CancellationToken;

use crate::outbox::dispatcher::Dispatcher;
use crate::outbox::upkeep::{Shop, Upkeep};
use crate::settings::ShopWebhook;
use crate::store::Store;
use crate::tasks::Tasks;

/// Starts telling the shop, if it is to be told, and forgetting what need not be kept.
///
/// # Errors
/// When no client can be made.
pub fn start(
    store: &Arc<Store>,
    settings: &ShopWebhook,
    tasks: &Tasks,
    shutdown: &CancellationToken,
) -> anyhow::Result<()> {
    let dispatcher = Dispatcher::new(store.clone(), settings)
        .context("STANCHION_SHOP_WEBHOOK_URL cannot be used")?;
    let shop = if dispatcher.is_some() { Shop::Told } else { Shop::NotTold };
    if let Some(dispatcher) = dispatcher {
        tasks.background(|_| dispatcher.run(shutdown.clone()));
    }
    let upkeep = Upkeep::new(store.clone(), shop, settings.retention_seconds);
    tasks.background(|_| upkeep.run(shutdown.clone()));
    Ok(())
}
