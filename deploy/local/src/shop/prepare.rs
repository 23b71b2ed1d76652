//! Throw-away events for the checks: a room and a sale of their own, made and closed by the operators' calls.
//! Nobody is let in by them: people join and claim at the waiting room, as everywhere.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::desk::Desk;
use super::failed::Failed;

/// Only events that were made here are shown and closed.
const PREFIX: &str = "check-";
/// Left open by pages that were closed in the middle: the oldest is closed then.
const OPEN_MAX: usize = 40;
/// How long the services may take to show a new event to the public.
const SHOWN_WITHIN: Duration = Duration::from_secs(10);
/// Between two looks whether they do.
const PAUSE: Duration = Duration::from_millis(50);

/// What is to be different from a plain event, in the words of the services' own calls.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wanted {
    room: Map<String, Value>,
    sale: Map<String, Value>,
}

pub(super) async fn create(
    State(desk): State<Arc<Desk>>,
    Json(wanted): Json<Wanted>,
) -> Result<Json<Value>, Failed> {
    new_event(&desk, wanted).await.map(Json)
}

/// Makes a room and a sale; gives the event's name and its sectors.
pub(super) async fn new_event(desk: &Desk, wanted: Wanted) -> Result<Value, Failed> {
    let event = format!("{PREFIX}{}", &Uuid::new_v4().simple().to_string()[..12]);
    let path = format!("/v1/admin/events/{event}");
    let (room, sale) = (plain_room(desk), plain_sale());
    let (room, sale) = (over(room, wanted.room), over(sale, wanted.sale));
    let options = &desk.options;
    desk.ops(&options.checkout, Method::PUT, &path, Some(&sale)).await?;
    desk.ops(&options.waiting_room, Method::PUT, &path, Some(&room)).await?;
    let oldest = {
        let mut open = desk.open_events();
        open.push_back(event.clone());
        if open.len() > OPEN_MAX { open.pop_front() } else { None }
    };
    if let Some(oldest) = oldest {
        close_event(desk, &oldest).await?;
    }
    let deadline = Instant::now() + SHOWN_WITHIN;
    loop {
        match shown(desk, &event).await {
            Ok(sectors) => return Ok(json!({ "event": event, "sectors": sectors })),
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => sleep(PAUSE).await,
        }
    }
}

/// The room and the sale's counters, as operators see them.
pub(super) async fn look(
    State(desk): State<Arc<Desk>>,
    Path(event): Path<String>,
) -> Result<Json<Value>, Failed> {
    made_here(&event)?;
    let path = format!("/v1/admin/events/{event}");
    let options = &desk.options;
    let room = desk.ops(&options.waiting_room, Method::GET, &path, None).await?;
    Ok(Json(json!({ "room": room, "sale": reconciled(&desk, &event).await? })))
}

/// Whether counters and rows agree, by the checkout's own word.
pub(super) async fn reconciled(desk: &Desk, event: &str) -> Result<Value, Failed> {
    let path = format!("/v1/admin/events/{event}/reconcile");
    desk.ops(&desk.options.checkout, Method::GET, &path, None).await
}

pub(super) async fn close(
    State(desk): State<Arc<Desk>>,
    Path(event): Path<String>,
) -> Result<StatusCode, Failed> {
    made_here(&event)?;
    close_event(&desk, &event).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lets nobody in any more. Nothing is forgotten, which the services have no call for.
pub(super) async fn close_event(desk: &Desk, event: &str) -> Result<(), Failed> {
    desk.open_events().retain(|open| open != event);
    let path = format!("/v1/admin/events/{event}/close");
    desk.ops(&desk.options.waiting_room, Method::POST, &path, None).await.map(drop)
}

fn made_here(event: &str) -> Result<(), Failed> {
    let name = event.strip_prefix(PREFIX);
    match name.is_some_and(|name| name.chars().all(|one| one.is_ascii_alphanumeric())) {
        true => Ok(()),
        false => Err(Failed::not_found("This event was not made here.")),
    }
}

/// The sectors, once both services show the event.
async fn shown(desk: &Desk, event: &str) -> Result<Value, Failed> {
    let events = format!("{}/v1/events/{event}/status", desk.options.waiting_room.url);
    desk.client.get(events).send().await?.error_for_status()?;
    let sectors = format!("{}/v1/events/{event}/sectors", desk.options.checkout.url);
    let answer = desk.client.get(sectors).send().await?.error_for_status()?;
    let mut sectors: Value = answer.json().await?;
    match sectors["sectors"].take() {
        Value::Array(sectors) if !sectors.is_empty() => Ok(Value::Array(sectors)),
        _ => Err(Failed::behind("The checkout does not show the new event's sectors.")),
    }
}

fn plain_room(desk: &Desk) -> Value {
    json!({
        "name": "Self-check", "queueing_method": "fifo", "admission_rate_per_minute": 60_000,
        "max_active_sessions": 10_000, "claim_window_seconds": 120, "session_duration_seconds": 600,
        "identity": "anonymous", "checkout_url": desk.url, "return_origins": [],
        "on_store_error": "closed",
    })
}

fn plain_sale() -> Value {
    json!({
        "name": "Self-check", "max_per_user": 4, "max_quantity_per_request": 4,
        "hold_ttl_seconds": 120, "currency": "EUR",
        "sectors": [{ "name": "Standing", "capacity": 10, "price": 1_000 }],
    })
}

fn over(mut plain: Value, changes: Map<String, Value>) -> Value {
    if let Value::Object(plain) = &mut plain {
        plain.extend(changes);
    }
    plain
}
