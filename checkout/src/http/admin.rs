//! Operators: events, sectors, and whether everything adds up.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use shared::ids::EventId;
use shared::problem::{Json, Path, Problem};

use super::admin_body::EventBody;
use crate::app::App;
use crate::reconcile::{self as report, Report};
use crate::store::admin::EventChange;
use crate::store::read::{self, Event, Sector};
use crate::store::transaction;

/// Events that are listed.
const EVENTS_MAX: i64 = 1_000;

#[derive(Serialize)]
struct EventAnswer {
    #[serde(flatten)]
    event: Event,
    sectors: Vec<Sector>,
}

#[derive(Serialize)]
struct EventsAnswer {
    events: Vec<Event>,
}

/// `GET /v1/admin/events`: the newest, at most 1000, without their sectors.
pub async fn list(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let events = read::events(&mut *app.store.connection().await?, EVENTS_MAX).await?;
    Ok(axum::Json(EventsAnswer { events }))
}

/// `GET /v1/admin/events/{event}`
pub async fn show(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Problem> {
    Ok(axum::Json(current(&app, &event).await?))
}

/// `PUT /v1/admin/events/{event}`: 201 new, 200 changed.
pub async fn put(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(body): Json<EventBody>,
) -> Result<Response, Problem> {
    change(&app, body.put(event)?).await
}

/// `PATCH /v1/admin/events/{event}`: what is left out stays as it is.
pub async fn patch(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(body): Json<EventBody>,
) -> Result<Response, Problem> {
    change(&app, body.patch(event)?).await
}

/// `GET /v1/admin/events/{event}/reconcile`
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
