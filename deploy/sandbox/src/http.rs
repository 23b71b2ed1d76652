//! The sandbox's calls.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use shared::ops::bearer;
use uuid::Uuid;

use crate::Sandbox;
use crate::ledger::{self, Fate, Kind, Operation, Order, Refused};
use crate::switches::{Switches, used};

/// How long an order that is not to be answered is held.
const SILENCE: Duration = Duration::from_secs(120);

type Shared = State<Arc<Sandbox>>;

/// All of them.
pub(crate) fn routes(sandbox: Arc<Sandbox>) -> Router {
    let guard = from_fn_with_state(sandbox.clone(), require_key);
    Router::new()
        .route("/v1/charges", post(charge))
        .route("/v1/refunds", post(refund))
        .route("/v1/operations/{key}", get(find))
        .route("/v1/operations/{key}/void", post(void))
        .route("/v1/operations/{key}/complete", post(complete))
        .route("/v1/switches", get(switches).patch(switch))
        .route("/v1/ledger", get(everything))
        .route_layer(guard)
        .route("/readyz", get(async || StatusCode::OK))
        .with_state(sandbox)
}

async fn require_key(State(sandbox): Shared, request: Request, next: Next) -> Response {
    match bearer(request.headers()) {
        Some(key) if sandbox.key.matches(key) => next.run(request).await,
        _ => StatusCode::UNAUTHORIZED.into_response(),
    }
}

async fn charge(sandbox: Shared, Json(order): Json<Order>) -> Response {
    carry_out(sandbox, Kind::Charge, order).await
}

async fn refund(sandbox: Shared, Json(order): Json<Order>) -> Response {
    carry_out(sandbox, Kind::Refund, order).await
}

/// Goes on when the client goes away, as a real provider would.
async fn carry_out(State(sandbox): Shared, kind: Kind, order: Order) -> Response {
    let done = tokio::spawn(async move { sandbox.carry_out(kind, order).await });
    done.await.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

impl Sandbox {
    async fn carry_out(self: Arc<Self>, kind: Kind, order: Order) -> Response {
        let (latency_ms, unavailable) = {
            let mut switches = self.switches();
            (switches.latency_ms, used(&mut switches.unavailable))
        };
        tokio::time::sleep(Duration::from_millis(latency_ms)).await;
        if unavailable {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        let id = format!("sb_{}", Uuid::now_v7().simple());
        let fate = || self.fate(kind);
        let done = self.ledger().order(kind, order, id, fate);
        let (operation, new) = match done {
            Ok(done) => done,
            Err(refused) => return refused.into_response(),
        };
        if new {
            self.tell(&operation).await;
        }
        let (silent, broken) = {
            let mut switches = self.switches();
            let silent = used(&mut switches.timeout_after_success);
            (silent, !silent && used(&mut switches.broken_answers))
        };
        if silent {
            tokio::select! {
                () = self.shutdown.cancelled() => {}
                () = tokio::time::sleep(SILENCE) => {}
            }
            return StatusCode::GATEWAY_TIMEOUT.into_response();
        }
        if broken {
            return (StatusCode::INTERNAL_SERVER_ERROR, "{").into_response();
        }
        shown(&operation)
    }

    fn fate(&self, kind: Kind) -> Fate {
        let mut switches = self.switches();
        match kind {
            Kind::Charge if used(&mut switches.declines) => Fate::Declined,
            Kind::Charge if used(&mut switches.processing) => Fate::Processing,
            Kind::Refund if used(&mut switches.refund_failures) => Fate::Declined,
            Kind::Charge | Kind::Refund => Fate::Good,
        }
    }

    /// Sends the webhook; waits for it when it is to come before the answer.
    async fn tell(self: &Arc<Self>, operation: &Operation) {
        let switches = self.switches().clone();
        let (first, operation) = (switches.webhook_before_answer, operation.clone());
        let sandbox = self.clone();
        let told = tokio::spawn(async move { sandbox.webhooks.tell(operation, switches).await });
        if first {
            // A panic there is nothing that the caller could do anything about.
            let _ = told.await;
        }
    }
}

async fn find(State(sandbox): Shared, Path(key): Path<String>) -> Response {
    if used(&mut sandbox.switches().look_up_failures) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let found = sandbox.ledger().find(&key);
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |operation| shown(&operation))
}

async fn void(State(sandbox): Shared, Path(key): Path<String>) -> Response {
    let voided = sandbox.ledger().void(&key, format!("sb_{}", Uuid::now_v7().simple()));
    voided.map_or_else(IntoResponse::into_response, |operation| shown(&operation))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Completion {
    state: ledger::State,
}

async fn complete(
    State(sandbox): Shared,
    Path(key): Path<String>,
    Json(completion): Json<Completion>,
) -> Response {
    let completed = sandbox.ledger().complete(&key, completion.state);
    let Some(operation) = completed else { return StatusCode::NOT_FOUND.into_response() };
    sandbox.tell(&operation).await;
    shown(&operation)
}

async fn switches(State(sandbox): Shared) -> Json<Switches> {
    Json(sandbox.switches().clone())
}

async fn switch(State(sandbox): Shared, Json(change): Json<Value>) -> Response {
    let mut switches = sandbox.switches();
    let mut changed = json!(*switches);
    // It is not shown.
    changed["webhook_secret"] = json!(switches.webhook_secret);
    for (name, value) in change.as_object().into_iter().flatten() {
        changed[name] = value.clone();
    }
    match serde_json::from_value::<Switches>(changed) {
        Ok(changed) => {
            *switches = changed;
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

async fn everything(State(sandbox): Shared) -> Json<Value> {
    let ledger = sandbox.ledger();
    let (operations, over_refunds) = ledger.all();
    Json(json!({ "operations": operations, "over_refunds": over_refunds }))
}

fn shown(operation: &Operation) -> Response {
    let status = match operation.state {
        ledger::State::Processing | ledger::State::Succeeded => StatusCode::OK,
        ledger::State::Declined | ledger::State::Voided => StatusCode::PAYMENT_REQUIRED,
    };
    (status, Json(operation)).into_response()
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Self::KeyReused => StatusCode::CONFLICT,
            Self::Full => StatusCode::SERVICE_UNAVAILABLE,
        }
        .into_response()
    }
}
