//! `POST /v1/admin/events/{event}/pause|resume|drain|close|open`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use shared::ids::EventId;
use shared::problem::{Path, Problem};

use super::events::{RoomBody, current};
use crate::app::App;
use crate::error::{Error, no_event};
use crate::node;
use crate::queue::Control;

/// 200 with the room as it is now.
pub(crate) async fn control(
    State(app): State<Arc<App>>,
    Path((event, word)): Path<(EventId, String)>,
) -> Result<impl IntoResponse, Error> {
    let control = match word.as_str() {
        "pause" => Control::Paused,
        "resume" | "open" => Control::Open,
        "drain" => Control::Draining,
        "close" => Control::Closed,
        _ => return Err(Problem::not_found().into()),
    };
    if !app.store.control(&event, control).await? {
        return Err(no_event());
    }
    tracing::info!(event = %event, control = control.as_str(), "room controlled");
    node::tick(&app, &event).await?;
    Ok(Json(RoomBody::new(&event, &current(&app, &event).await?)))
}
