//! `POST /v1/events/{event}/queue/heartbeat`: I am still here. Gathered in memory.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;

use super::visitor::Visitor;
use crate::app::App;

/// 204.
pub(crate) async fn heartbeat(State(app): State<Arc<App>>, visitor: Visitor) -> StatusCode {
    app.presence.note(&visitor.event, visitor.person);
    StatusCode::NO_CONTENT
}
