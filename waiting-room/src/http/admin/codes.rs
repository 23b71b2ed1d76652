//! `POST /v1/admin/events/{event}/access-codes`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use serde::Deserialize;
use shared::ids::EventId;
use shared::problem::{Json, Path, Problem};

use crate::app::App;
use crate::error::{Error, no_event};
use crate::store::AccessCode;

/// Codes in one request: a request's body is bounded, and so is a step in the store.
const CODES_MAX: usize = 500;

/// The body.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodesBody {
    codes: Vec<AccessCode>,
}

/// 200 with how many codes there are: adds codes, replaces those that exist, takes away those with 0
/// uses.
pub(crate) async fn codes(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(body): Json<CodesBody>,
) -> Result<impl IntoResponse, Error> {
    if !(1..=CODES_MAX).contains(&body.codes.len()) {
        return Err(Problem::invalid_request(format!("codes must be 1 to {CODES_MAX}.")).into());
    }
    if !body.codes.iter().all(|code| AccessCode::is_well_formed(&code.code)) {
        let detail = "A code must be 1 to 64 visible ASCII characters.";
        return Err(Problem::invalid_request(detail).into());
    }
    let count = app.store.codes(&event, &body.codes).await?.ok_or_else(no_event)?;
    Ok(axum::Json(serde_json::json!({ "codes": count })))
}
