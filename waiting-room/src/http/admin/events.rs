//! `GET`, `PUT`, `PATCH /v1/admin/events/{event}` and `PATCH …/rate`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shared::ids::EventId;
use shared::problem::{Code, Json, Path, Problem, Query};

use crate::app::App;
use crate::error::{Error, no_event};
use crate::node;
use crate::queue::{Identity, Mode, RoomSettings, Seed};
use crate::store::{Put, Snapshot, Tick};

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
    called_total: u64,
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
            called_total: now.called_total,
            active_sessions: now.active,
            tokens_total: now.tokens_total,
        }
    }
}

/// Reads a room from the store and calls nobody.
pub(crate) async fn current(app: &App, event: &EventId) -> Result<Current, Error> {
    let snapshot = app.store.tick(event, Tick::default()).await?.ok_or_else(no_event)?;
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
    if settings.identity == Identity::Jwt && !app.identities.is_configured() {
        return Err(Problem::invalid_request(
            "identity: jwt needs STANCHION_IDENTITY_JWKS_URL or STANCHION_IDENTITY_KEY_FILE.",
        )
        .into());
    }
    let created =
        matches!(app.store.put(&event, &settings, None, &new_seed()?).await?, Put::Created);
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
        match app.store.put(event, &settings, Some(snapshot.version), &new_seed()?).await? {
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

/// A draw's secret, should the room be new.
fn new_seed() -> Result<Seed, Problem> {
    let mut bytes = [0; 32];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| Problem::internal())?;
    Ok(Seed::new(bytes))
}

/// The query of `GET …/audit`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditQuery {
    /// How many changes, 1 to 1,000. Default 100.
    count: Option<u32>,
}

/// 200 with the last changes, newest first.
pub(crate) async fn audit(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Query(query): Query<AuditQuery>,
) -> Result<impl IntoResponse, Error> {
    let count = query.count.unwrap_or(100);
    if !(1..=1_000).contains(&count) {
        return Err(Problem::invalid_request("count must be 1 to 1000.").into());
    }
    current(&app, &event).await?;
    let changes = app.store.audit(&event, count).await?;
    Ok(axum::Json(serde_json::json!({ "changes": changes })))
}
