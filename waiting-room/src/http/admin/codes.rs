//! `POST /v1/admin/events/{event}/access-codes`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use shared::ids::EventId;
use shared::problem::{Json, Path, Problem};
use shared::problems;
use utoipa::ToSchema;

use crate::app::App;
use crate::error::{Error, no_event};
use crate::store::AccessCode;

/// Codes in one request: a request's body is bounded, and so is a step in the store.
const CODES_MAX: usize = 500;

problems!(CodesProblems: NotFound, UnsupportedMediaType);

/// Access codes to add, replace or take away.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AccessCodes)]
pub(crate) struct CodesBody {
    /// 1 to 500.
    codes: Vec<AccessCode>,
}

/// How many access codes a room has.
#[derive(Serialize, ToSchema)]
struct CodesAnswer {
    /// Codes with uses left.
    codes: u64,
}

/// 200 with how many codes there are: adds codes, replaces those that exist, takes away those with 0
/// uses.
///
/// A code that is there already is replaced; one with `uses: 0` is taken away.
#[utoipa::path(
    post,
    path = "",
    tag = "Rooms",
    summary = "Add or take away access codes",
    request_body = CodesBody,
    responses(
        (status = 200, description = "How many there are now.", body = CodesAnswer),
        CodesProblems,
    ),
)]
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
    let codes = app.store.codes(&event, &body.codes).await?.ok_or_else(no_event)?;
    Ok(axum::Json(CodesAnswer { codes }))
}
