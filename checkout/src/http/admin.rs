//! Operators: events, sectors, and whether everything adds up.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use shared::ids::EventId;
use shared::problem::{Json, Path, Problem};
use shared::problems;
use utoipa::ToSchema;

use super::admin_body::EventBody;
use crate::app::App;
use crate::reconcile::{self as report, Report};
use crate::store::admin::EventChange;
use crate::store::read::{self, Event, Sector};
use crate::store::transaction;

/// Events that are listed.
const EVENTS_MAX: i64 = 1_000;

problems!(GetProblems: NotFound);
problems!(PutProblems: UnsupportedMediaType, InvalidQuantity, QueueFull);
problems!(PatchProblems: NotFound, UnsupportedMediaType, InvalidQuantity, QueueFull);

/// An event with its sectors.
#[derive(Serialize, ToSchema)]
#[schema(as = EventWithSectors)]
struct EventAnswer {
    #[serde(flatten)]
    event: Event,
    /// Ascending by id.
    sectors: Vec<Sector>,
}

/// Events, without their sectors.
#[derive(Serialize, ToSchema)]
#[schema(as = Events)]
struct EventsAnswer {
    /// Newest first, at most 1,000.
    events: Vec<Event>,
}

/// 200 with the newest events, at most 1,000, without their sectors.
#[utoipa::path(
    get,
    path = "",
    tag = "Events",
    operation_id = "list_events",
    summary = "All events",
    responses((status = 200, description = "The newest.", body = EventsAnswer)),
)]
pub async fn list(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let events = read::events(&mut *app.store.connection().await?, EVENTS_MAX).await?;
    Ok(axum::Json(EventsAnswer { events }))
}

/// 200 with the event.
#[utoipa::path(
    get,
    path = "",
    tag = "Events",
    operation_id = "get_event",
    summary = "An event",
    responses((status = 200, description = "Read from the database now.", body = EventAnswer), GetProblems),
)]
pub async fn show(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Problem> {
    Ok(axum::Json(current(&app, &event).await?))
}

/// 201 for a new event, 200 for a changed one.
///
/// A setting that is left out has its default afterwards; a sector that is left out stays. Capacities are raised
/// and lowered during the sale, never below what is held and sold.
#[utoipa::path(
    put,
    path = "",
    tag = "Events",
    operation_id = "put_event",
    summary = "Create an event, or replace its settings",
    request_body = EventBody,
    responses(
        (status = 201, description = "A new event.", body = EventAnswer),
        (status = 200, description = "Changed.", body = EventAnswer),
        PutProblems,
    ),
)]
pub async fn put(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(body): Json<EventBody>,
) -> Result<Response, Problem> {
    change(&app, body.put(event)?).await
}

/// 200: changes what is sent and nothing else.
#[utoipa::path(
    patch,
    path = "",
    tag = "Events",
    operation_id = "patch_event",
    summary = "Change some of an event's settings",
    request_body = EventBody,
    responses((status = 200, description = "The event as it is now.", body = EventAnswer), PatchProblems),
)]
pub async fn patch(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(body): Json<EventBody>,
) -> Result<Response, Problem> {
    change(&app, body.patch(event)?).await
}

/// 200 with the event's counters beside the sums of its rows, at any time.
#[utoipa::path(
    get,
    path = "",
    tag = "Events",
    summary = "Whether everything adds up",
    responses((status = 200, description = "Counters and rows.", body = Report), GetProblems),
)]
pub async fn reconcile(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<axum::Json<Report>, Problem> {
    let mut connection = app.store.connection().await?;
    read::event(&mut connection, &event).await?.ok_or_else(Problem::not_found)?;
    Ok(axum::Json(report::reconcile(&mut connection, event).await?))
}

async fn change(app: &Arc<App>, change: EventChange) -> Result<Response, Problem> {
    let event = change.event.clone();
    let created = app.tasks.run({
        let app = app.clone();
        move |owned| async move { transaction::run(&owned, &app.store, &change).await }
    });
    let created = created.await??;
    app.catalogue.forget(&event).await;
    app.writers.stock_changed(&event);
    tracing::info!(event = %event, created, "event changed");
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, axum::Json(current(app, &event).await?)).into_response())
}

async fn current(app: &App, id: &EventId) -> Result<EventAnswer, Problem> {
    let mut connection = app.store.connection().await?;
    let event = read::event(&mut connection, id).await?.ok_or_else(Problem::not_found)?;
    let sectors = read::sectors(&mut connection, id).await?;
    Ok(EventAnswer { event, sectors })
}
