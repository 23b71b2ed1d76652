//! The sandbox provider: takes no real money, and misbehaves on demand. For development and tests.
//!
//! | module | what it holds |
//! |---|---|
//! | [`ledger`] | what was charged, refunded and refused; in memory, bounded |
//! | [`switches`] | how it misbehaves |
//! | [`webhooks`] | telling the checkout, signed |
//! | [`http`] | its calls |
//!
//! | call | |
//! |---|---|
//! | `POST /v1/charges`, `POST /v1/refunds` | 200, or 402 when declined; the same key again is the same operation |
//! | `GET /v1/operations/{key}` | what has become of it; 404 when nothing was done under that key |
//! | `POST /v1/operations/{key}/void` | makes sure that it is never done, unless it was |
//! | `POST /v1/operations/{key}/complete` | ends an operation that is `processing` |
//! | `GET`, `PATCH /v1/switches` | how it misbehaves |
//! | `GET /v1/ledger` | everything |
//! | `GET /readyz` | 200 |
//!
//! All but the last want `Authorization: Bearer` with its key.

pub mod http;
pub mod ledger;
pub mod switches;
pub mod webhooks;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Parser;
use secrecy::SecretString;
use shared::secret::BearerToken;
use shared::serve::{Limits, serve};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use ledger::Ledger;
use switches::Switches;
use webhooks::Webhooks;

const LIMITS: Limits =
    Limits { connections_max: 10_000, shutdown_timeout: std::time::Duration::from_millis(500) };

/// What the sandbox is told.
#[derive(Debug, Clone, Parser)]
#[command(name = "stanchion-sandbox", version)]
pub struct Settings {
    /// Address of its listener.
    #[arg(
        long,
        env = "STANCHION_SANDBOX_LISTEN",
        value_name = "STANCHION_SANDBOX_LISTEN",
        default_value = "127.0.0.1:8083"
    )]
    pub listen: SocketAddr,

    /// What the checkout must present, at least 16 characters.
    #[arg(
        long,
        env = "STANCHION_SANDBOX_KEY",
        value_name = "STANCHION_SANDBOX_KEY",
        hide_env_values = true
    )]
    pub key: BearerToken,

    /// What webhooks are signed with.
    #[arg(
        long,
        env = "STANCHION_SANDBOX_WEBHOOK_SECRET",
        value_name = "STANCHION_SANDBOX_WEBHOOK_SECRET",
        hide_env_values = true
    )]
    pub webhook_secret: SecretString,

    /// Where webhooks are sent; without it there are none until a switch says where.
    #[arg(
        long,
        env = "STANCHION_SANDBOX_WEBHOOK_URL",
        value_name = "STANCHION_SANDBOX_WEBHOOK_URL"
    )]
    pub webhook_url: Option<String>,
}

/// A sandbox.
pub struct Sandbox {
    key: BearerToken,
    ledger: Mutex<Ledger>,
    switches: Mutex<Switches>,
    webhooks: Webhooks,
    shutdown: CancellationToken,
}

impl Sandbox {
    fn new(settings: &Settings, shutdown: CancellationToken) -> anyhow::Result<Self> {
        let switches =
            Switches { webhook_url: settings.webhook_url.clone(), ..Switches::default() };
        Ok(Self {
            key: settings.key.clone(),
            ledger: Mutex::default(),
            switches: Mutex::new(switches),
            webhooks: Webhooks::new(settings.webhook_secret.clone())?,
            shutdown,
        })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn switches(&self) -> MutexGuard<'_, Switches> {
        self.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves until `shutdown`.
pub async fn run(
    settings: Settings,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let sandbox = Arc::new(Sandbox::new(&settings, shutdown.clone())?);
    serve(listener, http::routes(sandbox), LIMITS, shutdown).await;
    Ok(())
}
