//! A load from this process: people who are let in to a throw-away event by the waiting room, and then reserve
//! at the checkout, as often as the limit per person lets them. One at a time, bounded in people and time.
//!
//! [`crowd`] lets them in, [`work`] has them reserve, [`figures`] counts.

mod crowd;
mod figures;
mod work;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::failed::Failed;
use figures::Figures;

const PEOPLE_MAX: usize = 500;
const SECONDS_MAX: u64 = 30;
const CONCURRENCY_MAX: usize = 64;

/// What is to be done.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Order {
    /// People, 1 to 500.
    people: usize,
    /// For how long they reserve, 1 to 30.
    seconds: u64,
    /// Requests under way at once, 1 to 64.
    concurrency: usize,
}

/// Where a load stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    None,
    /// So many are in already.
    LettingIn(usize),
    Running,
    /// With what the checkout says of its own counters afterwards.
    Done {
        verdict: Value,
        stopped: bool,
    },
    Failed(String),
}

/// The last load, running or over.
#[derive(Default)]
pub(super) struct Load {
    phase: Mutex<Phase>,
    figures: Mutex<Figures>,
    /// The order, and what ends it early.
    order: Mutex<Option<(Order, CancellationToken)>>,
}

impl Order {
    fn check(self) -> Result<Self, Failed> {
        let bound = |name: &str, value: u64, max: u64| match (1..=max).contains(&value) {
            true => Ok(()),
            false => Err(Failed::invalid(format!("{name} must be 1 to {max}."))),
        };
        bound("people", self.people as u64, PEOPLE_MAX as u64)?;
        bound("seconds", self.seconds, SECONDS_MAX)?;
        bound("concurrency", self.concurrency as u64, CONCURRENCY_MAX as u64)?;
        Ok(self)
    }
}

impl Load {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        locked(&self.phase)
    }

    fn figures(&self) -> MutexGuard<'_, Figures> {
        locked(&self.figures)
    }

    /// Takes an order, unless another is under way.
    fn begin(&self, order: Order, stop: CancellationToken) -> Result<(), Failed> {
        let mut phase = self.phase();
        if matches!(*phase, Phase::LettingIn(_) | Phase::Running) {
            return Err(Failed::conflict("A load is under way."));
        }
        *phase = Phase::LettingIn(0);
        *self.figures() = Figures::default();
        *locked(&self.order) = Some((order, stop));
        Ok(())
    }

    fn shown(&self) -> Value {
        let order = locked(&self.order).as_ref().map(|(order, _)| *order);
        let (name, more) = match &*self.phase() {
            Phase::None => ("none", json!({})),
            Phase::LettingIn(people) => ("letting_in", json!({ "let_in": people })),
            Phase::Running => ("running", json!({})),
            Phase::Done { verdict, stopped } => {
                ("done", json!({ "verdict": verdict, "stopped": stopped }))
            }
            Phase::Failed(reason) => ("failed", json!({ "reason": reason })),
        };
        let order = order.map(|order| {
            json!({ "people": order.people, "seconds": order.seconds,
                "concurrency": order.concurrency })
        });
        json!({
            "phase": name, "detail": more, "order": order, "figures": self.figures().shown(),
        })
    }
}

/// 202: it begins.
pub(super) async fn start(
    State(desk): State<Arc<Desk>>,
    Json(order): Json<Order>,
) -> Result<StatusCode, Failed> {
    let stop = desk.shutdown.child_token();
    desk.load.begin(order.check()?, stop.clone())?;
    tokio::spawn(async move {
        let ended = work::whole(&desk, order, &stop).await;
        let phase = match ended {
            Ok(verdict) => Phase::Done { verdict, stopped: stop.is_cancelled() },
            Err(failed) => Phase::Failed(failed.detail().to_owned()),
        };
        *desk.load.phase() = phase;
    });
    Ok(StatusCode::ACCEPTED)
}

/// How it stands.
pub(super) async fn look(State(desk): State<Arc<Desk>>) -> Json<Value> {
    Json(desk.load.shown())
}

/// Ends it early; what was measured stays.
pub(super) async fn stop(State(desk): State<Arc<Desk>>) -> StatusCode {
    if let Some((_, stop)) = &*locked(&desk.load.order) {
        stop.cancel();
    }
    StatusCode::NO_CONTENT
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
