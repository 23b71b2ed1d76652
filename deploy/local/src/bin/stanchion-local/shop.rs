//! The demo shop: where the waiting room sends who was let in. A static page that talks to the
//! checkout from the browser, and one call of its own, `POST /pay`, which confirms a reservation
//! as a real shop's server would: with the service token, which never reaches the browser.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use local::ports;
use serde_json::{Value, json};
use shared::serve::{Limits, serve};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::plan::Instance;
use crate::say;
use crate::seed;

const PAGE: &str = include_str!("../../../shop/index.html");
const STYLE: &str = include_str!("../../../shop/shop.css");
const SCRIPT: &str = include_str!("../../../shop/shop.js");

const PORT: u16 = 8082;
const CONFIRM_WITHIN: Duration = Duration::from_secs(10);
const LIMITS: Limits = Limits { connections_max: 1_000, shutdown_timeout: Duration::from_secs(2) };

/// The running shop.
pub(crate) struct Shop {
    url: String,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

struct Desk {
    waiting_room_url: String,
    checkout_url: String,
    service_token: String,
    client: reqwest::Client,
}

impl Shop {
    /// Serves the shop on its own port.
    pub(crate) async fn start(
        waiting_room: &Instance,
        checkout: &Instance,
        service_token: &str,
    ) -> anyhow::Result<Self> {
        let port = ports::prefer(PORT)?;
        let listener =
            TcpListener::bind(("127.0.0.1", port)).await.context("the demo shop cannot listen")?;
        let desk = Desk {
            waiting_room_url: waiting_room.url(),
            checkout_url: checkout.url(),
            service_token: service_token.to_owned(),
            client: reqwest::Client::builder().no_proxy().timeout(CONFIRM_WITHIN).build()?,
        };
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(serve(listener, routes(desk), LIMITS, shutdown.clone()));
        say::step(&format!("demo shop on port {port}"));
        Ok(Self { url: format!("http://127.0.0.1:{port}"), shutdown, task })
    }

    /// Its address, which is also its origin.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        // A panic of the shop concerns nobody who is stopping it.
        let _ = self.task.await;
    }
}

fn routes(desk: Desk) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/shop.css", get(async || asset("text/css; charset=utf-8", STYLE)))
        .route("/shop.js", get(async || asset("text/javascript; charset=utf-8", SCRIPT)))
        .route("/config.json", get(config))
        .route("/pay", post(pay))
        .with_state(Arc::new(desk))
}

async fn page(State(desk): State<Arc<Desk>>) -> Response {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
         connect-src 'self' {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        desk.checkout_url
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer".into()),
    ];
    (headers, asset("text/html; charset=utf-8", PAGE)).into_response()
}

fn asset(content_type: &'static str, body: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, body).into_response()
}

async fn config(State(desk): State<Arc<Desk>>) -> Json<Value> {
    Json(json!({
        "checkout_url": desk.checkout_url,
        "waiting_room_url": desk.waiting_room_url,
        "event": seed::EVENT,
    }))
}

/// Confirms a reservation. A second click is the same request: the key is the reservation's.
async fn pay(State(desk): State<Arc<Desk>>, Json(order): Json<Value>) -> Response {
    let id = order["reservation_id"].as_str().and_then(|id| Uuid::parse_str(id).ok());
    let Some(id) = id else {
        return problem(StatusCode::BAD_REQUEST, "invalid_request", "That is no reservation.");
    };
    let confirmed = desk
        .client
        .post(format!("{}/v1/reservations/{id}/confirm", desk.checkout_url))
        .bearer_auth(&desk.service_token)
        .header("idempotency-key", format!("demo-shop-{id}"))
        .send()
        .await;
    match confirmed {
        Ok(answer) => forward(answer).await,
        Err(_) => {
            let detail = "The checkout did not answer. Nothing was charged twice: try again.";
            problem(StatusCode::BAD_GATEWAY, "unavailable", detail)
        }
    }
}

/// The checkout's answer as it is: status, kind, body.
async fn forward(answer: reqwest::Response) -> Response {
    let status = answer.status();
    let mut headers = HeaderMap::new();
    if let Some(kind) = answer.headers().get(header::CONTENT_TYPE) {
        headers.insert(header::CONTENT_TYPE, kind.clone());
    }
    match answer.bytes().await {
        Ok(body) => (status, headers, body).into_response(),
        Err(_) => problem(StatusCode::BAD_GATEWAY, "unavailable", "The answer was cut off."),
    }
}

fn problem(status: StatusCode, code: &str, detail: &str) -> Response {
    let title = status.canonical_reason().unwrap_or("Error");
    let body = json!({ "status": status.as_u16(), "title": title, "code": code, "detail": detail });
    let kind = [(header::CONTENT_TYPE, "application/problem+json")];
    (status, kind, body.to_string()).into_response()
}
