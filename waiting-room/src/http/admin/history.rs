//! `GET /v1/admin/events/{event}/metrics/history`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use serde::Serialize;
use shared::ids::EventId;
use shared::problem::Path;
use shared::problems;
use utoipa::ToSchema;

use crate::app::App;
use crate::board::INTERVAL_SECONDS;
use crate::error::{Error, no_event};

problems!(HistoryProblems: NotFound);

/// A room's last hour, as this node has seen it: it begins when the node was started.
#[derive(Serialize, ToSchema)]
#[schema(as = RoomHistory)]
struct HistoryBody {
    /// Between two moments.
    #[schema(example = 5)]
    interval_seconds: u64,
    /// The moments, oldest first, at most 720, by the node's clock, in milliseconds since the Unix epoch.
    at_ms: Vec<u64>,
    /// What was known at each of them, by name; `null` where it was not.
    #[schema(value_type = BTreeMap<String, Vec<Option<f32>>>)]
    series: BTreeMap<&'static str, Vec<Option<f32>>>,
}

/// 200 with the last hour in steps of five seconds.
///
/// Kept in the memory of this node alone.
#[utoipa::path(
    get,
    path = "",
    tag = "Rooms",
    operation_id = "room_history",
    summary = "A room's last hour",
    responses((status = 200, description = "As this node has seen it.", body = HistoryBody), HistoryProblems),
)]
pub(crate) async fn history(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Error> {
    app.rooms.get(&event).ok_or_else(no_event)?;
    let (at_ms, series) = app
        .board
        .with(&event, |watched| (watched.hour.at_ms(), watched.hour.series()))
        .unwrap_or_default();
    Ok(axum::Json(HistoryBody { interval_seconds: INTERVAL_SECONDS, at_ms, series }))
}
