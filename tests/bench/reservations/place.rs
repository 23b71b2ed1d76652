//! A running checkout, the product or a baseline, with one sector on sale.

use std::fmt;
use std::net::SocketAddr;

use checkout::Settings;
use clap::{Parser, ValueEnum};
use serde_json::json;
use shared::serve::Listeners;
use tests::client::Client;
use tests::keys::{OPS_TOKEN, RESERVATION_KEY, SERVICE_TOKEN, admission};
use tests::{stores, wait};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::front;
use crate::people::EVENT;

/// Which path a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Path {
    Product,
    Lock,
    Table,
    NoDb,
}

impl Path {
    pub(crate) const ALL: [Self; 4] = [Self::Product, Self::Lock, Self::Table, Self::NoDb];
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Product => "product",
            Self::Lock => "(a) a transaction per request behind a lock",
            Self::Table => "(b) queue table in batches of 200",
            Self::NoDb => "(c) without the database",
        })
    }
}

/// Something that sells.
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    pub(crate) sector: String,
    shutdown: CancellationToken,
    tasks: Vec<JoinHandle<anyhow::Result<()>>>,
}

/// Opens a sale of one sector, on a database of its own.
pub(crate) async fn open(path: Path, capacity: u32) -> anyhow::Result<Place> {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let settings = settings(&database, &redis)?;
    let shutdown = CancellationToken::new();
    let any = ([127, 0, 0, 1], 0).into();
    let listeners = Listeners::bind(any, any).await?;
    let (mut address, ops) = (listeners.public.local_addr()?, listeners.ops.local_addr()?);
    let service = checkout::run(settings.clone(), listeners, shutdown.clone());
    let mut tasks = vec![tokio::spawn(service)];

    let (public, ops) = (Client::new(address), Client::new(ops).with_bearer(OPS_TOKEN));
    wait::until("the checkout to be ready", async || {
        (public.get("/readyz").await.status == 200).then_some(())
    })
    .await;
    let sector = Uuid::now_v7().to_string();
    // The capacity that an operator may set ends at ten million, more than a run can sell.
    let capacity = capacity.min(10_000_000);
    let sale = json!({
        "max_per_user": 10_000, "max_quantity_per_request": 4, "hold_ttl_seconds": 3_600,
        "sectors": [{"sector_id": sector, "name": "Stalls", "capacity": capacity, "price": 4_500}],
    });
    ops.put(&format!("/v1/admin/events/{EVENT}"), &sale).await.expect(201);

    if path != Path::Product {
        let baseline =
            front::open(path, &settings, &database, &sector, capacity, &shutdown).await?;
        address = baseline.0;
        tasks.push(baseline.1);
    }
    Ok(Place { address, sector, shutdown, tasks })
}

impl Place {
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        for task in self.tasks {
            task.await??;
        }
        Ok(())
    }
}

fn settings(database: &str, redis: &str) -> anyhow::Result<Settings> {
    let jwks = admission().jwks.to_string_lossy();
    Ok(Settings::try_parse_from([
        "checkout",
        "--database-url",
        database,
        "--redis-url",
        redis,
        "--ops-token",
        OPS_TOKEN,
        "--service-token",
        SERVICE_TOKEN,
        "--reservation-key",
        RESERVATION_KEY,
        "--jwks-file",
        &jwks,
        // On the path, and out of the way.
        "--user-rate-per-second",
        "10000",
        "--user-rate-burst",
        "100000",
        "--shutdown-seconds",
        "5",
        "--log",
        "warn",
        "--listen",
        "127.0.0.1:0",
        "--ops-listen",
        "127.0.0.1:0",
    ])?)
}
