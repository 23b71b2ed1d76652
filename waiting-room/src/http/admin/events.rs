//! `GET`, `PUT`, `PATCH /v1/admin/events/{event}` and `PATCH …/rate`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shared::ids::EventId;
use shared::problem::{Code, Json, Path, Problem};

use crate::app::App;
use crate::error::{Error, no_event};
use crate::node;
use crate::queue::{Mode, RoomSettings};
use crate::store::{Put, Snapshot};

/// Attempts at a change that others keep overtaking.
const PATCH_ATTEMPTS: usize = 5;

/// A room as operators see it.
#[derive(Serialize)]
pub(crate) struct RoomBody {
    event: EventId,
    status: Mode,
    version: u64,
    #[serde(flatten)]
    settings: RoomSettings,
    serving: u64,
    last_number: u64,
    waiting: u64,
    called: u64,
    active_sessions: u64,
    tokens_total: u64,
}

/// A room's settings and counters, read from the store now.
pub(crate) struct Current {
    settings: RoomSettings,
    snapshot: Snapshot,
}

impl RoomBody {
    pub(crate) fn new(event: &EventId, current: &Current) -> Self {
        let now = &current.snapshot;
        Self {
            event: event.clone(),
            status: now.mode,
            version: now.version,
            settings: current.settings.clone(),
            serving: now.serving,
            last_number: now.last_number,
            waiting: now.waiting,
            called: now.called,
            active_sessions: now.active,
            tokens_total: now.tokens_total,
        }
    }
}

/// Reads a room from the store and calls nobody.
pub(crate) async fn current(app: &App, event: &EventId) -> Result<Current, Error> {
    let snapshot = app.store.tick(event, 0, 0).await?.ok_or_else(no_event)?;
    let settings =
        serde_json::from_str(&snapshot.config).map_err(shared::redis::RedisError::from)?;
    Ok(Current { settings, snapshot })
}

/// 200 with the names of all events.
pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Error> {
    let mut events = app.store.events().await?;
    events.sort_unstable();
    Ok(axum::Json(serde_json::json!({ "events": events })))
}

/// 200 with the room.
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Error> {
    Ok(axum::Json(RoomBody::new(&event, &current(&app, &event).await?)))
}

/// 201 for a new room, 200 for a changed one; what is in its queue stays.
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(settings): Json<RoomSettings>,
) -> Result<impl IntoResponse, Error> {
    settings.validate()?;
    let created = matches!(app.store.put(&event, &settings, None).await?, Put::Created);
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    changed(&app, &event).await.map(|body| (status, body))
}

/// 200: changes the fields that are sent and no others; `null` takes an optional one away.
pub(crate) async fn patch(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(changes): Json<Map<String, Value>>,
) -> Result<impl IntoResponse, Error> {
    merge(&app, &event, &changes).await?;
    changed(&app, &event).await
}

/// The body of `PATCH …/rate`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateBody {
    admission_rate_per_minute: u64,
}

/// 200: changes the rate and nothing else.
pub(crate) async fn rate(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(body): Json<RateBody>,
) -> Result<impl IntoResponse, Error> {
    let rate = Value::from(body.admission_rate_per_minute);
    let changes = Map::from_iter([("admission_rate_per_minute".to_owned(), rate)]);
    merge(&app, &event, &changes).await?;
    changed(&app, &event).await
}

async fn merge(app: &App, event: &EventId, changes: &Map<String, Value>) -> Result<(), Error> {
    for _ in 0..PATCH_ATTEMPTS {
        let Current { settings, snapshot } = current(app, event).await?;
        let settings = merged(&settings, changes)?;
        settings.validate()?;
        match app.store.put(event, &settings, Some(snapshot.version)).await? {
            Put::Overtaken => {}
            Put::Created | Put::Changed => return Ok(()),
        }
    }
    Err(Problem::new(Code::Unavailable, "Others are changing this room at the same time.")
        .retry_after_seconds(1)
        .into())
}

fn merged(settings: &RoomSettings, changes: &Map<String, Value>) -> Result<RoomSettings, Error> {
    let invalid = |error: serde_json::Error| Problem::invalid_request(format!("{error}."));
    let mut fields = serde_json::to_value(settings).map_err(invalid)?;
    if let Value::Object(fields) = &mut fields {
        for (name, value) in changes {
            match value {
                Value::Null => drop(fields.remove(name)),
                value => drop(fields.insert(name.clone(), value.clone())),
            }
        }
    }
    Ok(serde_json::from_value(fields).map_err(invalid)?)
}

async fn changed(app: &App, event: &EventId) -> Result<axum::Json<RoomBody>, Error> {
    // This node knows at once, the others at their next tick.
    node::tick(app, event).await?;
    let current = current(app, event).await?;
    tracing::info!(event = %event, version = current.snapshot.version, "room changed");
    Ok(axum::Json(RoomBody::new(event, &current)))
}
