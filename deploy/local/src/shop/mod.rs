//! The demo shop: where the waiting room sends who was let in, with a page to buy on, a panel for the
//! sandbox provider's switches, and a page on which the running services are checked.
//!
//! The pages talk to the services' public listeners from the browser, as any shop's page would. What needs a
//! credential goes through the shop's own server, which keeps it:
//!
//! | module | what it does |
//! |---|---|
//! | [`pages`] | the static files |
//! | [`guard`] | who may call the rest: this machine's browser, from these pages |
//! | [`desk`] | the credentials, and the calls that need them |
//! | [`switches`] | the provider's switches and what it has done |
//! | [`prepare`] | throw-away events for the checks |
//! | [`restart`] | a process killed and started again, by whoever runs it |
//! | [`load`] | a load from this process, bounded |

mod desk;
mod failed;
mod guard;
mod load;
mod pages;
mod prepare;
mod restart;
mod switches;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};
use shared::serve::{Limits, serve};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::ports;
use desk::Desk;
pub use restart::{Restart, Restarted};

/// Where the shop listens when nobody else does.
pub const PORT: u16 = 8082;
const LIMITS: Limits = Limits { connections_max: 1_000, shutdown_timeout: Duration::from_secs(2) };

/// One of the two services.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// Its public listener, such as `http://127.0.0.1:8080`.
    pub url: String,
    /// Its ops listener.
    pub ops_url: String,
}

/// What the shop works with. Not `Debug`: it holds credentials.
#[derive(Clone)]
pub struct ShopOptions {
    /// The event that is on sale.
    pub event: String,
    /// The waiting room.
    pub waiting_room: Addresses,
    /// The checkout.
    pub checkout: Addresses,
    /// What both ops listeners want.
    pub ops_token: String,
    /// The sandbox provider.
    pub sandbox_url: String,
    /// What it wants.
    pub sandbox_key: String,
    /// Takes orders to kill a process and start it again; without it that check is left out.
    pub restarts: Option<mpsc::Sender<Restart>>,
}

/// A shop that has its address and is not open yet: the services must know the address before they start.
#[derive(Debug)]
pub struct Closed {
    listener: TcpListener,
    url: String,
}

/// The running shop.
#[derive(Debug)]
pub struct Shop {
    url: String,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl Closed {
    /// Takes a port on the loopback interface, the preferred one when it is free; 0 is any.
    ///
    /// # Errors
    /// When there is none.
    pub async fn bind(preferred: u16) -> anyhow::Result<Self> {
        let port = ports::prefer(preferred)?;
        let listener =
            TcpListener::bind(("127.0.0.1", port)).await.context("the demo shop cannot listen")?;
        let url = format!("http://{}", listener.local_addr()?);
        Ok(Self { listener, url })
    }

    /// Its address, which is also its origin.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Opens. The services need not be there yet.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn open(self, options: ShopOptions) -> anyhow::Result<Shop> {
        let Self { listener, url } = self;
        let shutdown = CancellationToken::new();
        let desk = Arc::new(Desk::new(options, url.clone(), shutdown.clone())?);
        let task = tokio::spawn(serve(listener, routes(desk), LIMITS, shutdown.clone()));
        Ok(Shop { url, shutdown, task })
    }
}

impl Shop {
    /// Its address, which is also its origin.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Ends it, and a load that runs.
    pub async fn stop(self) {
        self.shutdown.cancel();
        // A panic of the shop concerns nobody who is stopping it.
        let _ = self.task.await;
    }
}

fn routes(desk: Arc<Desk>) -> Router {
    let guarded = Router::new()
        .route("/provider/switches", get(switches::show).patch(switches::change))
        .route("/provider/ledger", get(switches::ledger))
        .route("/provider/complete", post(switches::complete))
        .route("/lab/events", post(prepare::create))
        .route("/lab/events/{event}", get(prepare::look).merge(delete(prepare::close)))
        .route("/lab/restart", post(restart::restart))
        .route("/load", get(load::look).post(load::start).delete(load::stop))
        .route_layer(from_fn_with_state(desk.clone(), guard::from_our_pages));
    pages::routes()
        .merge(guarded)
        .layer(from_fn_with_state(desk.clone(), guard::to_this_address))
        .with_state(desk)
}
