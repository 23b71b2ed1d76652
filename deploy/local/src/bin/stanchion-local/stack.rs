//! Everything that runs: started in order, watched, stopped in the opposite order.

mod restarts;

use anyhow::{Context, ensure};
use futures::future::{BoxFuture, FutureExt, join_all, select_all};
use local::service::{Service, ServiceOptions};
use local::shop::{self, Restart, Shop, ShopOptions};
use local::stores::{Postgres, PostgresOptions, Redis, RedisOptions};
use tokio::process::Command;
use tokio::sync::mpsc;

use crate::cli::Cli;
use crate::layout::Layout;
use crate::plan::{Instance, Plan, Ports};
use crate::say;
use crate::secrets::Secrets;
use crate::seed::{self, Seed};
use crate::summary;

/// The sandbox provider's, when it is free.
const SANDBOX_PORT: u16 = 8083;

/// What is running so far.
#[derive(Default)]
pub(crate) struct Stack {
    postgres: Option<Postgres>,
    redis: Option<Redis>,
    shop: Option<Shop>,
    restarts: Option<mpsc::Receiver<Restart>>,
    services: Vec<Service>,
}

/// Where it is, for people and scripts. Not `Debug`: it holds tokens.
pub(crate) struct Addresses {
    pub(crate) waiting_rooms: Vec<Instance>,
    pub(crate) checkouts: Vec<Instance>,
    pub(crate) shop_url: String,
    pub(crate) sandbox_url: String,
    pub(crate) sandbox_key: String,
    pub(crate) database_url: String,
    pub(crate) redis_url: String,
    pub(crate) ops_token: String,
    pub(crate) ops_read_token: String,
    pub(crate) service_token: String,
    pub(crate) demo_sector_id: String,
}

impl Stack {
    /// Starts everything. What was started before a failure stays in the stack, to be stopped.
    pub(crate) async fn start(&mut self, cli: &Cli, layout: &Layout) -> anyhow::Result<Addresses> {
        if cli.bench {
            summary::bench_warning();
        }
        let secrets = Secrets::load(&layout.secrets(), &cli.binary("waiting-room")?).await?;
        let (database_url, redis_url) = self.start_stores(layout).await?;

        let mut ports = Ports::default();
        let waiting_rooms = ports.instances("waiting-room", cli.instances, (8080, 9080))?;
        let checkouts = ports.instances("checkout", cli.instances, (8081, 9081))?;
        let sandbox_port = ports.next(SANDBOX_PORT)?;
        let closed_shop = shop::Closed::bind(shop::PORT).await?;
        let shop_url = closed_shop.url().to_owned();

        let plan = Plan {
            cli,
            layout,
            secrets: &secrets,
            redis_url: redis_url.clone(),
            database_url: database_url.clone(),
            jwks_url: format!("{}/.well-known/jwks.json", waiting_rooms[0].url()),
            shop_url: shop_url.clone(),
            sandbox_url: format!("http://127.0.0.1:{sandbox_port}"),
            checkout_ops_urls: checkouts
                .iter()
                .map(Instance::ops_url)
                .collect::<Vec<_>>()
                .join(","),
        };
        self.open_shop(closed_shop, &plan, &waiting_rooms[0], &checkouts[0])?;
        migrate(&plan.checkout(&checkouts[0])?).await?;
        // It is ready long before the first checkout is.
        let sandbox = Service::spawn(plan.sandbox(sandbox_port, &checkouts[0])?)?;
        self.services.push(sandbox);
        self.start_services(&waiting_rooms, |one| plan.waiting_room(one)).await?;
        self.start_services(&checkouts, |one| plan.checkout(one)).await?;

        let sandbox_url = plan.sandbox_url.clone();
        self.sandbox_ready(sandbox_port).await?;
        let seed = Seed::new(&secrets.ops_token)?;
        seed.waiting_room(&waiting_rooms[0].ops_url(), &shop_url).await?;
        seed.checkout(&checkouts[0].ops_url()).await?;
        let demo_sector_id = seed.sector_id(&checkouts[0].url()).await?;
        say::step("demo event is there");
        let Secrets { ops_token, ops_read_token, service_token, sandbox_key, .. } = secrets;
        Ok(Addresses {
            waiting_rooms,
            checkouts,
            shop_url,
            sandbox_url,
            sandbox_key,
            database_url,
            redis_url,
            ops_token,
            ops_read_token,
            service_token,
            demo_sector_id,
        })
    }

    /// Opens the shop, which may have a checkout or Redis restarted.
    fn open_shop(
        &mut self,
        shop: shop::Closed,
        plan: &Plan<'_>,
        waiting_room: &Instance,
        checkout: &Instance,
    ) -> anyhow::Result<()> {
        let (restarts, orders) = mpsc::channel(1);
        let addresses = |one: &Instance| shop::Addresses { url: one.url(), ops_url: one.ops_url() };
        say::step(&format!("demo shop at {}", shop.url()));
        self.restarts = Some(orders);
        self.shop = Some(shop.open(ShopOptions {
            event: seed::EVENT.to_owned(),
            waiting_room: addresses(waiting_room),
            checkout: addresses(checkout),
            ops_token: plan.secrets.ops_token.clone(),
            sandbox_url: plan.sandbox_url.clone(),
            sandbox_key: plan.secrets.sandbox_key.clone(),
            restarts: Some(restarts),
        })?);
        Ok(())
    }

    async fn sandbox_ready(&self, port: u16) -> anyhow::Result<()> {
        for sandbox in self.services.iter().filter(|service| service.name() == "sandbox") {
            sandbox.ready().await?;
            say::step(&format!("sandbox provider on port {port}"));
        }
        Ok(())
    }

    async fn start_stores(&mut self, layout: &Layout) -> anyhow::Result<(String, String)> {
        let postgres = Postgres::start(&layout.postgres(), PostgresOptions::default()).await?;
        say::step(&format!("Postgres {} on port {}", postgres.version(), postgres.port()));
        let database_url = postgres.url();
        self.postgres = Some(postgres);

        let redis = Redis::start(&layout.redis(), RedisOptions::default()).await?;
        say::step(&format!("Redis {} on port {}", redis.version(), redis.port()));
        let redis_url = redis.url();
        self.redis = Some(redis);
        Ok((database_url, redis_url))
    }

    /// Starts all instances of a service at once and waits until each is ready.
    async fn start_services(
        &mut self,
        instances: &[Instance],
        options: impl Fn(&Instance) -> anyhow::Result<ServiceOptions>,
    ) -> anyhow::Result<()> {
        let first = self.services.len();
        for instance in instances {
            self.services.push(Service::spawn(options(instance)?)?);
        }
        for (service, instance) in self.services[first..].iter().zip(instances) {
            service.ready().await?;
            let Instance { name, port, ops_port } = instance;
            say::step(&format!("{name} on port {port} (ops {ops_port})"));
        }
        Ok(())
    }

    /// Waits until something has ended by itself, and says what.
    async fn death(&self) -> anyhow::Error {
        let mut ends: Vec<BoxFuture<'_, (&str, String, String)>> = Vec::new();
        if let Some(one) = &self.postgres {
            let end = one.ended().map(|exit| ("Postgres", exit.to_string(), one.log_tail()));
            ends.push(end.boxed());
        }
        if let Some(one) = &self.redis {
            let end = one.ended().map(|exit| ("Redis", exit.to_string(), one.log_tail()));
            ends.push(end.boxed());
        }
        for one in &self.services {
            let end = one.ended().map(|exit| (one.name(), exit.to_string(), one.log_tail()));
            ends.push(end.boxed());
        }
        if ends.is_empty() {
            return std::future::pending().await;
        }
        let ((name, exit, tail), ..) = select_all(ends).await;
        anyhow::anyhow!("{name} {exit} unexpectedly; the end of its log:\n{tail}")
    }

    /// Stops everything: first who takes requests, then who keeps the data.
    pub(crate) async fn stop(&mut self) {
        if let Some(shop) = self.shop.take() {
            shop.stop().await;
        }
        for stopped in join_all(self.services.iter().map(Service::stop)).await {
            told(stopped);
        }
        self.services.clear();
        if let Some(redis) = self.redis.take() {
            told(redis.stop().await);
        }
        if let Some(postgres) = self.postgres.take() {
            told(postgres.stop().await);
        }
    }
}

/// A failed stop is said; the others are stopped all the same.
fn told(stopped: anyhow::Result<()>) {
    if let Err(error) = stopped {
        say::error(&error);
    }
}

/// Brings the database's schema up to date.
async fn migrate(checkout: &ServiceOptions) -> anyhow::Result<()> {
    let output = Command::new(&checkout.program)
        .arg("migrate")
        .envs(checkout.env.iter().map(|(key, value)| (key, value)))
        .kill_on_drop(true)
        .output()
        .await
        .context("cannot run the checkout")?;
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    ensure!(output.status.success(), "`checkout migrate` failed:\n{}", told.trim());
    say::step("database schema is up to date");
    Ok(())
}
