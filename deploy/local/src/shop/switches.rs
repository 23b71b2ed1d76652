//! The sandbox provider's switches, and what it has done. Its key stays here.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::desk::Desk;
use super::failed::Failed;

/// Operations that are shown.
const SHOWN: usize = 20;
/// Where webhooks go and what signs them is not the page's business.
const KEPT: [&str; 2] = ["webhook_url", "webhook_secret"];

pub(super) async fn show(State(desk): State<Arc<Desk>>) -> Result<Json<Value>, Failed> {
    let mut switches = desk.provider(Method::GET, "/v1/switches", None).await?;
    if let Value::Object(switches) = &mut switches {
        switches.retain(|name, _| !KEPT.contains(&name.as_str()));
    }
    Ok(Json(switches))
}

pub(super) async fn change(
    State(desk): State<Arc<Desk>>,
    Json(change): Json<Map<String, Value>>,
) -> Result<StatusCode, Failed> {
    if let Some(name) = change.keys().find(|name| KEPT.contains(&name.as_str())) {
        return Err(Failed::invalid(format!("{name} is not to be changed here.")));
    }
    desk.provider(Method::PATCH, "/v1/switches", Some(&Value::Object(change))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which operations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Those of one reservation only.
    reservation: Option<String>,
}

/// The newest operations, newest first.
pub(super) async fn ledger(
    State(desk): State<Arc<Desk>>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Value>, Failed> {
    let operations = operations(&desk, wanted.reservation.as_deref()).await?;
    Ok(Json(json!({ "operations": operations })))
}

/// How an operation that is under way is to end.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Completion {
    reservation_id: String,
    /// `succeeded` or `declined`.
    state: String,
}

/// Ends the charge of a reservation that the provider has under way.
pub(super) async fn complete(
    State(desk): State<Arc<Desk>>,
    Json(completion): Json<Completion>,
) -> Result<Json<Value>, Failed> {
    let operations = operations(&desk, Some(&completion.reservation_id)).await?;
    let under_way = operations.iter().find(|operation| operation["state"] == "processing");
    let key = under_way.and_then(|operation| operation["key"].as_str());
    let key = key.ok_or_else(|| Failed::not_found("Nothing of this reservation is under way."))?;
    let path = format!("/v1/operations/{key}/complete");
    let body = json!({ "state": completion.state });
    Ok(Json(desk.provider(Method::POST, &path, Some(&body)).await?))
}

async fn operations(desk: &Desk, reservation: Option<&str>) -> Result<Vec<Value>, Failed> {
    let mut ledger = desk.provider(Method::GET, "/v1/ledger", None).await?;
    let Value::Array(mut operations) = ledger["operations"].take() else {
        return Err(Failed::behind("The provider's ledger is no list."));
    };
    if let Some(reservation) = reservation {
        operations.retain(|operation| operation["metadata"]["reservation"] == reservation);
    }
    // Its names for them begin with the time.
    operations.sort_by(|one, other| other["id"].as_str().cmp(&one["id"].as_str()));
    operations.truncate(SHOWN);
    Ok(operations)
}
