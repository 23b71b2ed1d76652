//! A process killed and started again. The shop only asks for it: whoever started the process does it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::desk::Desk;
use super::failed::Failed;

/// A start may take half a minute.
const WITHIN: Duration = Duration::from_secs(60);

/// What can be restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restarted {
    /// One checkout.
    Checkout,
    /// Redis.
    Redis,
}

/// An order to kill (`kill -9`) and start again.
#[derive(Debug)]
pub struct Restart {
    /// What.
    pub what: Restarted,
    /// Told when it is ready again, or why it is not.
    pub done: oneshot::Sender<anyhow::Result<()>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    what: Restarted,
}

/// 200 when it is ready again, with how long that took.
pub(super) async fn restart(
    State(desk): State<Arc<Desk>>,
    Json(order): Json<Order>,
) -> Result<Json<Value>, Failed> {
    let nobody = || Failed::conflict("Nobody here can restart it.");
    let restarts = desk.options.restarts.as_ref().ok_or_else(nobody)?;
    let (done, told) = oneshot::channel();
    let begun = Instant::now();
    // The channel is short: one at a time.
    let order = Restart { what: order.what, done };
    restarts.try_send(order).map_err(|_| Failed::conflict("A restart is under way."))?;
    match timeout(WITHIN, told).await {
        Ok(Ok(Ok(()))) => Ok(Json(json!({ "took_ms": begun.elapsed().as_millis() }))),
        Ok(Ok(Err(error))) => Err(Failed::behind(format!("{error:#}"))),
        Ok(Err(_)) | Err(_) => Err(Failed::behind("It is not ready again.")),
    }
}
