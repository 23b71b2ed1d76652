//! `GET /v1/admin/events/{event}/metrics`.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use serde::Serialize;
use shared::ids::EventId;
use shared::problem::{Path, Problem};
use shared::problems;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::app::App;
use crate::figures::Counts;
use crate::store::figures::{Overdue, Unsettled};
use crate::store::read::Sector;

problems!(MetricsProblems: NotFound);

/// An event's figures. What was counted is this instance's, since it was started; what is in the database is
/// the same at every instance.
#[derive(Serialize, ToSchema)]
#[schema(as = EventMetrics)]
struct MetricsBody<'a> {
    /// Names this run of this instance: counts begin anew with it.
    instance: Uuid,
    /// In the database, at most a second ago: ascending by id.
    sectors: &'a [Sector],
    /// In the database: holds whose time has passed and that are not ended yet.
    holds_overdue: Overdue,
    /// In the database: payment operations that are not done.
    payments_unsettled: &'a [Unsettled],
    /// Here: the longest wait for a sector's turn in the last moments, in milliseconds.
    queue_delay_ms: u64,
    /// Counted here: what came of requests to `reserve`, `confirm`, `cancel`, `extend` and `pay`: `created`, `done`,
    /// `replayed` or a problem's code.
    #[schema(value_type = BTreeMap<String, BTreeMap<String, u64>>)]
    reservations: BTreeMap<&'static str, Counts>,
    /// Counted here: what was heard of payments: `paid`, `recovered`, `owed`, `failed`, `refunded`,
    /// `refund_refused`, `noted`.
    #[schema(value_type = BTreeMap<String, u64>)]
    payments: Counts,
}

/// 200 with this instance's view.
///
/// Made for asking once a second or two: the database is asked at most once a second, however many ask.
#[utoipa::path(
    get,
    path = "",
    tag = "Events",
    operation_id = "event_metrics",
    summary = "An event's figures",
    responses((status = 200, description = "As this instance sees them.", body = MetricsBody<'_>), MetricsProblems),
)]
pub async fn metrics(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Problem> {
    app.catalogue.event(&event).await?.ok_or_else(Problem::not_found)?;
    let figures = app.figures.of(&event);
    let stored = figures.stored(&app.store, &event).await?;
    let counted = figures.counted();
    let delay = app.queue_delays.of(&event).current();
    let body = MetricsBody {
        instance: app.figures.instance,
        sectors: &stored.sectors,
        holds_overdue: stored.overdue,
        payments_unsettled: &stored.unsettled,
        queue_delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
        reservations: counted.reservations,
        payments: counted.payments,
    };
    Ok(axum::Json(body).into_response())
}
