//! `POST /v1/events/{event}/queue/heartbeat`: I am still here. Gathered in memory.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use shared::problems;

use super::visitor::Visitor;
use crate::app::App;

problems!(HeartbeatProblems: NotFound);

/// 204.
///
/// Sent every `heartbeat_after_ms`. Who sends none for two to four minutes is passed over; he keeps his
/// place, and is called as soon as he is back.
#[utoipa::path(
    post,
    path = "",
    tag = "Queue",
    summary = "I am still here",
    security(("queue_ticket" = []), ("queue_cookie" = [])),
    responses((status = 204, description = "Noted."), HeartbeatProblems),
)]
pub(crate) async fn heartbeat(State(app): State<Arc<App>>, visitor: Visitor) -> StatusCode {
    app.presence.note(&visitor.event, visitor.person);
    StatusCode::NO_CONTENT
}
