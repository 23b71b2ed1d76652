//! Both services and the sandbox provider together, as a shop would run them.

use crate::keys::OPS_TOKEN;
use crate::room::RoomNode;
use crate::sale::CheckoutNode;
use crate::sandbox::{self, Sandbox};
use crate::stores;

/// On stores of its own; stopped when it is dropped.
pub struct Deployment {
    /// The waiting room.
    pub room: RoomNode,
    /// The checkout, which pays by the sandbox.
    pub checkout: CheckoutNode,
    /// The provider.
    pub sandbox: Sandbox,
}

impl Deployment {
    /// Starts all of it.
    pub async fn start() -> Self {
        let sandbox = Sandbox::start().await;
        let (database, redis) = (stores::database_url().await, stores::redis_url().await);
        let flags = sandbox::flags(&sandbox);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let checkout = CheckoutNode::start(&database, &redis, &flags).await;
        // The room's dashboard shows the sale too; its cookie works without TLS here.
        let asks = ["--checkout-ops-urls", checkout.ops.base(), "--checkout-ops-token", OPS_TOKEN];
        let room = RoomNode::start(&redis, &[&asks[..], &["--insecure-cookies"]].concat()).await;
        sandbox.tell(&checkout.public).await;
        Self { room, checkout, sandbox }
    }
}
