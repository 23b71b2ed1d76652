//! `POST /v1/admin/events/{event}/pause|resume|drain|close|open`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use shared::ids::EventId;
use shared::problem::{Path, Problem};
use shared::problems;
use utoipa::ToSchema;

use super::events::{RoomBody, current};
use crate::app::App;
use crate::error::{Error, no_event};
use crate::node;
use crate::queue::Control;

problems!(ControlProblems: NotFound);

/// What a room is told to do. `open` and `resume` are the same.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case", as = Control)]
#[expect(dead_code, reason = "describes the last part of the path")]
enum ControlWord {
    Pause,
    Resume,
    Drain,
    Close,
    Open,
}

/// 200 with the room as it is now.
///
/// `pause`: nobody is called or let in · `drain`: nobody new may join · `close`: it is over · `open`, `resume`:
/// on it goes.
#[utoipa::path(
    post,
    path = "",
    tag = "Rooms",
    operation_id = "control_room",
    summary = "Pause, resume, drain, close or open a room",
    params(("control" = inline(ControlWord), Path, description = "What the room is to do.")),
    responses(
        (status = 200, description = "The room as it is now.", body = RoomBody),
        ControlProblems,
    ),
)]
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
