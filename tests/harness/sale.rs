//! Checkouts under test.

mod buyer;
mod inside;
mod process;

pub use buyer::{Buyer, all_at_once, claims, confirm, count, new_key, sign};
use checkout::Settings;
use clap::Parser;
pub use inside::Inside;
pub use process::CheckoutProcess;
use serde_json::{Value, json};
use shared::serve::Listeners;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::client::{Answer, Client};
use crate::keys::{OPS_TOKEN, RESERVATION_KEY, SERVICE_TOKEN, admission};
use crate::ledger::Ledger;
use crate::{stores, wait};

/// One instance, stopped when it is dropped.
pub struct CheckoutNode {
    /// Its public listener.
    pub public: Client,
    /// Its ops listener, with the token.
    pub ops: Client,
    /// Its database.
    pub ledger: Ledger,
    task: JoinHandle<anyhow::Result<()>>,
    _running: DropGuard,
}

impl CheckoutNode {
    /// An instance on these stores. `flags` are added to the command line; without a flag that says
    /// otherwise a person may make any number of requests.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(database_url: &str, redis_url: &str, flags: &[&str]) -> Self {
        let any = ([127, 0, 0, 1], 0).into();
        let listeners = Listeners::bind(any, any).await.expect("loopback has free ports");
        let address = |socket: &tokio::net::TcpListener| socket.local_addr().expect("bound");
        let (public, ops) = (address(&listeners.public), address(&listeners.ops));
        let shutdown = CancellationToken::new();
        let settings = settings(database_url, redis_url, flags);
        let running = checkout::run(settings, listeners, shutdown.clone());
        let task = tokio::spawn(wait::and_say_why_it_ended("the checkout", running));
        let node = Self {
            public: Client::new(public),
            ops: Client::new(ops).with_bearer(OPS_TOKEN),
            ledger: Ledger::open(database_url),
            task,
            _running: shutdown.drop_guard(),
        };
        wait::until("the checkout to be ready", async || {
            assert!(!node.task.is_finished(), "the checkout ended");
            (node.public.get("/readyz").await.status == 200).then_some(())
        })
        .await;
        node
    }

    /// Creates or changes an event with these settings over the plain ones.
    pub async fn create(&self, event: &str, settings: &Value) -> Answer {
        let mut body = json!({
            "name": "A concert", "max_per_user": 4, "max_quantity_per_request": 4,
            "hold_ttl_seconds": 300, "currency": "EUR", "sectors": [],
        });
        for (name, value) in settings.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.ops.put(&format!("/v1/admin/events/{event}"), &body).await
    }

    /// Creates an event with one sector of so many places at 10.00; gives the sector's id.
    pub async fn on_sale(&self, event: &str, capacity: u32) -> String {
        self.on_sale_with(event, &json!({}), &[capacity]).await.remove(0)
    }

    /// Creates an event with these settings and a sector for each capacity; gives their ids.
    pub async fn on_sale_with(
        &self,
        event: &str,
        settings: &Value,
        capacities: &[u32],
    ) -> Vec<String> {
        let ids: Vec<String> = capacities.iter().map(|_| Uuid::now_v7().to_string()).collect();
        let sectors: Vec<Value> = ids
            .iter()
            .zip(capacities)
            .map(|(id, capacity)| {
                json!({"sector_id": id, "name": id, "capacity": capacity, "price": 1_000})
            })
            .collect();
        let mut settings = settings.clone();
        settings["sectors"] = json!(sectors);
        self.create(event, &settings).await.expect(201);
        ids
    }

    /// What the public is shown of an event's sectors.
    pub async fn sectors(&self, event: &str) -> Vec<Value> {
        let answer = self.public.get(&format!("/v1/events/{event}/sectors")).await.expect(200);
        answer.json()["sectors"].as_array().cloned().expect("a list of sectors")
    }

    /// What the service itself finds when it compares counters and rows: as soon as it can, for a Postgres that
    /// has just been restarted may be slow to take a connection.
    pub async fn reconcile(&self, event: &str) -> Value {
        let path = format!("/v1/admin/events/{event}/reconcile");
        wait::until("counters and rows to be compared", async || {
            let answer = self.ops.get(&path).await;
            (answer.status != 503).then(|| answer.expect(200).json())
        })
        .await
    }

    /// Asserts that counters and rows agree, by the service's word and by the test's own count.
    ///
    /// # Panics
    /// When they do not.
    pub async fn assert_consistent(&self, event: &str) {
        let report = self.reconcile(event).await;
        assert_eq!(report["consistent"], json!(true), "{report}");
        self.ledger.assert_balanced(event).await;
    }

    /// Somebody who has been let in to the event.
    #[must_use]
    pub fn buyer(&self, event: &str, sub: &str) -> Buyer {
        self.with_token(sign(&claims(event, sub)))
    }

    /// So many people who have been let in.
    #[must_use]
    pub fn crowd(&self, event: &str, people: usize) -> Vec<Buyer> {
        (0..people).map(|n| self.buyer(event, &format!("person-{n}"))).collect()
    }

    /// Whoever has this token.
    #[must_use]
    pub fn with_token(&self, token: impl Into<String>) -> Buyer {
        Buyer {
            client: self.public.with_bearer(token),
            service: self.public.with_bearer(SERVICE_TOKEN),
        }
    }
}

/// An instance on a database and a Redis database of its own.
pub async fn single(flags: &[&str]) -> CheckoutNode {
    CheckoutNode::start(&stores::database_url().await, &stores::redis_url().await, flags).await
}

/// Two instances that share theirs.
pub async fn pair(flags: &[&str]) -> (CheckoutNode, CheckoutNode) {
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    tokio::join!(
        CheckoutNode::start(&database, &redis, flags),
        CheckoutNode::start(&database, &redis, flags),
    )
}

fn settings(database_url: &str, redis_url: &str, flags: &[&str]) -> Settings {
    let jwks = admission().jwks.to_string_lossy();
    let mut line = vec!["checkout"];
    for (flag, value) in [
        ("--database-url", database_url),
        ("--redis-url", redis_url),
        ("--ops-token", OPS_TOKEN),
        ("--service-token", SERVICE_TOKEN),
        ("--reservation-key", RESERVATION_KEY),
        ("--jwks-file", &jwks),
        ("--user-rate-per-second", "0"),
        ("--user-rate-burst", "0"),
        ("--shutdown-seconds", "5"),
        // On a busy machine a decision may take longer than the default; a test of 202 says so.
        ("--decision-wait-ms", "9900"),
    ] {
        if !flags.contains(&flag) {
            line.extend([flag, value]);
        }
    }
    line.extend(flags);
    Settings::try_parse_from(line).expect("the flags are the service's own")
}
