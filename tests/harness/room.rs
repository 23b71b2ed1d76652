//! Waiting rooms under test.

use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};
use shared::serve::Listeners;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::{CancellationToken, DropGuard};
use waiting_room::{Cli, Command, Settings};

use crate::client::{Answer, Client};
use crate::keys::{OPS_TOKEN, TICKET_KEY, admission};
use crate::{stores, wait};

/// One node, stopped when it is dropped.
pub struct RoomNode {
    /// Its public listener.
    pub public: Client,
    /// Its ops listener, with the token.
    pub ops: Client,
    task: JoinHandle<anyhow::Result<()>>,
    _running: DropGuard,
}

impl RoomNode {
    /// A node on this Redis. `flags` are added to the command line.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(redis_url: &str, flags: &[&str]) -> Self {
        let node = Self::start_unready(redis_url, flags).await;
        wait::until("the waiting room to be ready", async || {
            assert!(!node.task.is_finished(), "the waiting room ended");
            (node.public.get("/readyz").await.status == 200).then_some(())
        })
        .await;
        node
    }

    /// The same, without waiting until it is ready.
    ///
    /// # Panics
    /// When there is no free port.
    pub async fn start_unready(redis_url: &str, flags: &[&str]) -> Self {
        let any = ([127, 0, 0, 1], 0).into();
        let listeners = Listeners::bind(any, any).await.expect("loopback has free ports");
        let address = |socket: &tokio::net::TcpListener| socket.local_addr().expect("bound");
        let (public, ops) = (address(&listeners.public), address(&listeners.ops));
        let shutdown = CancellationToken::new();
        let running = waiting_room::run(settings(redis_url, flags), listeners, shutdown.clone());
        let task = tokio::spawn(wait::and_say_why_it_ended("the waiting room", running));
        Self {
            public: Client::new(public),
            ops: Client::new(ops).with_bearer(OPS_TOKEN),
            task,
            _running: shutdown.drop_guard(),
        }
    }

    /// Ends it at once, with whatever it is doing.
    pub fn abort(self) {
        self.task.abort();
    }

    /// Creates an event with these settings over the plain ones.
    pub async fn create(&self, event: &str, settings: &Value) -> Answer {
        let mut body = json!({
            "name": "A concert", "checkout_url": "https://shop.example/", "queueing_method": "fifo",
            "admission_rate_per_minute": 60_000, "max_active_sessions": 10_000,
            "claim_window_seconds": 120, "session_duration_seconds": 600,
            "identity": "anonymous", "return_origins": [], "on_store_error": "closed",
        });
        for (name, value) in settings.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.ops.put(&format!("/v1/admin/events/{event}"), &body).await
    }

    /// Waits until this node knows the event.
    pub async fn knows(&self, event: &str) {
        let path = format!("/v1/events/{event}/status");
        wait::until("the node to know the event", async || {
            (self.public.get(&path).await.status == 200).then_some(())
        })
        .await;
    }

    /// A new person joins.
    pub async fn join(&self, event: &str) -> Person {
        let answer = self.public.post(&format!("/v1/events/{event}/queue")).await.expect(201);
        Person {
            client: self.public.with_bearer(answer.str("ticket")),
            event: event.to_owned(),
            number: answer.number("number"),
            ticket: answer.str("ticket"),
        }
    }
}

/// Somebody in a queue, who sends his ticket as a bearer token, as an app does.
#[derive(Clone)]
pub struct Person {
    /// His client, to the node he joined at.
    pub client: Client,
    /// The event.
    pub event: String,
    /// His queue number.
    pub number: u64,
    /// The ticket that he was given at first.
    pub ticket: String,
}

impl Person {
    /// The same person at another node.
    #[must_use]
    pub fn at(&self, node: &RoomNode) -> Self {
        Self { client: node.public.with_bearer(&self.ticket), ..self.clone() }
    }

    /// The same person through another client's connection.
    #[must_use]
    pub fn at_client(&self, public: &Client) -> Self {
        Self { client: public.with_bearer(&self.ticket), ..self.clone() }
    }

    /// My place, as soon as it may be asked for.
    pub async fn place(&self) -> Answer {
        wait::until("a poll to be in time", async || {
            let answer = self.poll().await;
            (answer.status != 429).then_some(answer)
        })
        .await
    }

    /// My place, asked for now.
    pub async fn poll(&self) -> Answer {
        self.client.get(&format!("/v1/events/{}/queue", self.event)).await
    }

    /// The status in my place.
    pub async fn status(&self) -> String {
        self.place().await.str("status")
    }

    /// Join again, with the ticket.
    pub async fn rejoin(&self) -> Answer {
        self.client.post(&format!("/v1/events/{}/queue", self.event)).await
    }

    /// One attempt at the gate.
    pub async fn claim(&self) -> Answer {
        self.client.post(&format!("/v1/events/{}/admission", self.event)).await
    }

    /// Give the place up.
    pub async fn leave(&self) -> Answer {
        self.client.delete(&format!("/v1/events/{}/queue", self.event)).await
    }

    /// Waits until called.
    pub async fn called(&self) {
        wait::until("the person to be called", async || {
            (self.status().await == "ready").then_some(())
        })
        .await;
    }

    /// Waits to be called and through the gate, as a crowd does: asking a few times a second.
    /// Gives the token.
    ///
    /// # Panics
    /// After three minutes.
    pub async fn admitted(&self) -> String {
        let deadline = Instant::now() + Duration::from_secs(180);
        loop {
            let answer = self.claim().await;
            if matches!(answer.status, 200 | 201) {
                return answer.str("admission_token");
            }
            assert!(Instant::now() < deadline, "not admitted: {answer:?}");
            sleep(Duration::from_millis(200)).await;
        }
    }
}

fn settings(redis_url: &str, flags: &[&str]) -> Settings {
    let keys = admission();
    let (current, next) = (keys.current.to_string_lossy(), keys.next.to_string_lossy());
    let mut line = vec![
        "waiting-room",
        "serve",
        "--redis-url",
        redis_url,
        "--ops-token",
        OPS_TOKEN,
        "--ticket-key",
        TICKET_KEY,
        "--admission-key-file",
        &current,
        "--admission-next-key-file",
        &next,
        "--shutdown-seconds",
        "5",
    ];
    line.extend(flags);
    match Cli::try_parse_from(line).expect("the flags are the service's own").command {
        Command::Serve(settings) => *settings,
        Command::Keygen(_) | Command::VerifyDraw(_) => unreachable!("the line says serve"),
    }
}

/// A node on a Redis database of its own.
pub async fn single(flags: &[&str]) -> RoomNode {
    RoomNode::start(&stores::redis_url().await, flags).await
}
