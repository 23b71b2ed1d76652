//! The shop that is told what happens to reservations: it takes webhooks, or does what it is told to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use shared::serve::{Limits, Listeners};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::wait;

/// The secret that messages to it are signed with.
pub const SECRET: &str = "whsec_c3RhbmNoaW9uLXRlc3RzLXdlYmhvb2stc2VjcmV0";

/// What the shop does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Answers with this status.
    Status(u16),
    /// Says that it is to be sent elsewhere, where it would be taken.
    Redirect,
    /// Does not answer.
    Hang,
    /// Does not answer before [`Shop::release`], and then takes it.
    Late,
    /// Answers with this status and a body that does not end.
    Endless(u16),
}

/// One attempt at a message, as it arrived.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// All headers.
    pub headers: HeaderMap,
    /// The body, to the byte.
    pub text: String,
    /// The how manieth attempt at this message it is, from 1.
    pub number: usize,
    /// What the shop did.
    pub reply: Reply,
}

impl Attempt {
    /// A header as text; empty when it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The message's name.
    #[must_use]
    pub fn id(&self) -> String {
        self.header("webhook-id").to_owned()
    }

    /// The body as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    /// What happened, such as `reservation.held`.
    #[must_use]
    pub fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap_or_default().to_owned()
    }

    /// The reservation.
    #[must_use]
    pub fn reservation(&self) -> String {
        self.json()["data"]["id"].as_str().unwrap_or_default().to_owned()
    }

    /// The reservation's version.
    #[must_use]
    pub fn version(&self) -> i64 {
        self.json()["data"]["version"].as_i64().unwrap_or_default()
    }

    /// Whether the shop has taken it, as far as the answer's status says so.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        matches!(self.reply, Reply::Status(200..=299) | Reply::Endless(200..=299) | Reply::Late)
    }
}

type Decide = Box<dyn Fn(&Attempt) -> Reply + Send + Sync>;

struct Desk {
    decide: Mutex<Decide>,
    attempts: Mutex<Vec<Attempt>>,
    released: watch::Sender<bool>,
}

/// A shop, closed when it is dropped.
pub struct Shop {
    url: String,
    desk: Arc<Desk>,
    _running: DropGuard,
}

impl Shop {
    /// A shop that takes everything.
    pub async fn open() -> Self {
        Self::that(|_| Reply::Status(204)).await
    }

    /// A shop that does this with each attempt.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn that(decide: impl Fn(&Attempt) -> Reply + Send + Sync + 'static) -> Self {
        let any = ([127, 0, 0, 1], 0).into();
        let listeners = Listeners::bind(any, any).await.expect("loopback has free ports");
        let address = listeners.public.local_addr().expect("bound");
        let desk = Arc::new(Desk {
            decide: Mutex::new(Box::new(decide)),
            attempts: Mutex::default(),
            released: watch::Sender::new(false),
        });
        let routes = Router::new().fallback(take).with_state(desk.clone());
        let limits =
            Limits { connections_max: 1_000, shutdown_timeout: Duration::from_millis(100) };
        let shutdown = CancellationToken::new();
        tokio::spawn(listeners.serve(routes, Router::new(), limits, shutdown.clone()));
        Self { url: format!("http://{address}/hooks"), desk, _running: shutdown.drop_guard() }
    }

    /// From here on it does this.
    pub fn from_now_on(&self, decide: impl Fn(&Attempt) -> Reply + Send + Sync + 'static) {
        *self.desk.decide.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(decide);
    }

    /// Answers whatever was kept waiting.
    pub fn release(&self) {
        self.desk.released.send_replace(true);
    }

    /// Where it takes messages.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A checkout's flags to tell this shop, and to try again soon.
    #[must_use]
    pub fn flags(&self) -> [&str; 6] {
        let (url, secret) = (self.url(), SECRET);
        let names = ["--shop-webhook-url", "--shop-webhook-secrets", "--shop-webhook-backoff-ms"];
        [names[0], url, names[1], secret, names[2], "20"]
    }

    /// The same with others.
    #[must_use]
    pub fn flags_and<'a>(&'a self, others: &[&'a str]) -> Vec<&'a str> {
        [&self.flags(), others].concat()
    }

    /// All attempts, in the order in which they came.
    #[must_use]
    pub fn attempts(&self) -> Vec<Attempt> {
        self.desk.attempts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those that were taken.
    #[must_use]
    pub fn taken(&self) -> Vec<Attempt> {
        self.attempts().into_iter().filter(Attempt::is_taken).collect()
    }

    /// Waits until so many messages were taken, and gives all attempts that were.
    pub async fn until_taken(&self, messages: usize) -> Vec<Attempt> {
        wait::until("the shop to be told", async || {
            let taken = self.taken();
            let mut ids: Vec<String> = taken.iter().map(Attempt::id).collect();
            ids.sort();
            ids.dedup();
            (ids.len() >= messages).then_some(taken)
        })
        .await
    }

    /// Waits until so many attempts were made.
    pub async fn until_attempts(&self, count: usize) -> Vec<Attempt> {
        wait::until("attempts at telling the shop", async || {
            let attempts = self.attempts();
            (attempts.len() >= count).then_some(attempts)
        })
        .await
    }

    /// Asserts that of no reservation a message came before all earlier ones were taken.
    ///
    /// # Panics
    /// When one did.
    pub fn assert_in_order(&self) {
        let mut taken: HashMap<String, i64> = HashMap::new();
        for attempt in self.attempts() {
            let (reservation, version) = (attempt.reservation(), attempt.version());
            let told = taken.entry(reservation).or_default();
            assert!(version <= *told + 1, "version {version} came after {told}: {attempt:?}");
            if attempt.is_taken() {
                *told = version.max(*told);
            }
        }
    }
}

async fn take(State(desk): State<Arc<Desk>>, headers: HeaderMap, text: String) -> Response {
    let mut attempt = Attempt { headers, text, number: 1, reply: Reply::Hang };
    let reply = {
        let mut attempts = desk.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        attempt.number += attempts.iter().filter(|known| known.id() == attempt.id()).count();
        attempt.reply = desk.decide.lock().unwrap_or_else(PoisonError::into_inner)(&attempt);
        attempts.push(attempt.clone());
        attempt.reply
    };
    let status = |status| StatusCode::from_u16(status).expect("a status");
    match reply {
        Reply::Status(code) => status(code).into_response(),
        Reply::Redirect => {
            (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/elsewhere")]).into_response()
        }
        Reply::Hang => std::future::pending().await,
        Reply::Late => {
            // An error would be that the shop is closed.
            let _ = desk.released.subscribe().wait_for(|released| *released).await;
            StatusCode::OK.into_response()
        }
        Reply::Endless(code) => {
            let chunk = || Ok::<_, std::convert::Infallible>("x".repeat(1_024));
            let chunks = futures::stream::repeat_with(chunk);
            (status(code), axum::body::Body::from_stream(chunks)).into_response()
        }
    }
}
