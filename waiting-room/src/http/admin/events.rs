//! `GET`, `PUT`, `PATCH /v1/admin/events/{event}` and `PATCH …/rate`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shared::ids::EventId;
use shared::problem::{Code, Json, Path, Problem, Query};
use shared::problems;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::app::App;
use crate::error::{Error, no_event};
use crate::node;
use crate::queue::{Identity, Mode, RoomSettings, Seed};
use crate::store::{Change, Put, Snapshot, Tick};

/// Attempts at a change that others keep overtaking.
const PATCH_ATTEMPTS: usize = 5;

problems!(GetProblems: NotFound);
problems!(PutProblems: UnsupportedMediaType);
problems!(PatchProblems: NotFound, UnsupportedMediaType);

/// A room as operators see it: its settings and its counters.
#[derive(Serialize, ToSchema)]
#[schema(as = Room)]
pub(crate) struct RoomBody {
    event: EventId,
    status: Mode,
    /// Counts changes of the settings.
    version: u64,
    #[serde(flatten)]
    settings: RoomSettings,
    /// Everybody whose rank is at or below it has been called or passed over.
    serving: u64,
    /// The last queue number given out; 0 before the first.
    last_number: u64,
    /// People who are there and have not been called.
    waiting: u64,
    /// People called in all; absent ones, who are passed over, not counted.
    called_total: u64,
    /// Sessions at the moment.
    active_sessions: u64,
    /// Tokens issued in all.
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

/// All events that have a room.
#[derive(Serialize, ToSchema)]
struct Events {
    /// Sorted.
    events: Vec<EventId>,
}

/// 200 with the names of all events.
#[utoipa::path(
    get,
    path = "",
    tag = "Rooms",
    operation_id = "list_rooms",
    summary = "All events",
    responses((status = 200, description = "Their names.", body = Events)),
)]
pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Error> {
    let mut events = app.store.events().await?;
    events.sort_unstable();
    Ok(axum::Json(Events { events }))
}

/// 200 with the room.
#[utoipa::path(
    get,
    path = "",
    tag = "Rooms",
    operation_id = "get_room",
    summary = "A room",
    responses((status = 200, description = "Read from the store now.", body = RoomBody), GetProblems),
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Error> {
    Ok(axum::Json(RoomBody::new(&event, &current(&app, &event).await?)))
}

/// 201 for a new room, 200 for a changed one; what is in its queue stays.
///
/// A field that is left out has its default afterwards: to change one and keep the others, use `PATCH`.
#[utoipa::path(
    put,
    path = "",
    tag = "Rooms",
    operation_id = "put_room",
    summary = "Create a room, or replace its settings",
    request_body = RoomSettings,
    responses(
        (status = 201, description = "A new room.", body = RoomBody),
        (status = 200, description = "Changed; its queue stays.", body = RoomBody),
        PutProblems,
    ),
)]
pub(crate) async fn put(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(settings): Json<RoomSettings>,
) -> Result<impl IntoResponse, Error> {
    check(&app, &settings)?;
    let created =
        matches!(app.store.put(&event, &settings, None, &new_seed()?).await?, Put::Created);
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    changed(&app, &event).await.map(|body| (status, body))
}

/// Settings to change: those of a room, each of which may be left out.
struct RoomChanges;

impl PartialSchema for RoomChanges {
    fn schema() -> RefOr<Schema> {
        let mut schema = RoomSettings::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.description =
                Some("What is left out stays; `null` takes an optional one away.".to_owned());
            object.required.clear();
        }
        schema
    }
}

impl ToSchema for RoomChanges {}

/// 200: changes the fields that are sent and no others; `null` takes an optional one away.
///
/// Fields that are not sent stay as they are; `null` takes an optional one away.
#[utoipa::path(
    patch,
    path = "",
    tag = "Rooms",
    operation_id = "patch_room",
    summary = "Change some of a room's settings",
    request_body = RoomChanges,
    responses(
        (status = 200, description = "The room as it is now.", body = RoomBody),
        PatchProblems,
    ),
)]
pub(crate) async fn patch(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    Json(changes): Json<Map<String, Value>>,
) -> Result<impl IntoResponse, Error> {
    merge(&app, &event, &changes).await?;
    changed(&app, &event).await
}

/// A new rate.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Rate)]
pub(crate) struct RateBody {
    /// Tokens issued in any 60 seconds at most.
    #[schema(minimum = 1, maximum = 600_000, example = 600)]
    admission_rate_per_minute: u64,
}

/// 200: changes the rate and nothing else.
#[utoipa::path(
    patch,
    path = "",
    tag = "Rooms",
    operation_id = "patch_rate",
    summary = "Change a room's rate",
    request_body = RateBody,
    responses(
        (status = 200, description = "The room as it is now.", body = RoomBody),
        PatchProblems,
    ),
)]
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

/// Whether a room may have these settings on this deployment, however they were sent.
fn check(app: &App, settings: &RoomSettings) -> Result<(), Error> {
    settings.validate()?;
    if settings.identity == Identity::Jwt && !app.identities.is_configured() {
        return Err(Problem::invalid_request(
            "identity: jwt needs STANCHION_IDENTITY_JWKS_URL or STANCHION_IDENTITY_JWKS_FILE.",
        )
        .into());
    }
    Ok(())
}

async fn merge(app: &App, event: &EventId, changes: &Map<String, Value>) -> Result<(), Error> {
    for _ in 0..PATCH_ATTEMPTS {
        let Current { settings, snapshot } = current(app, event).await?;
        let settings = merged(&settings, changes)?;
        check(app, &settings)?;
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
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// How many changes, 1 to 1,000. Default 100.
    #[param(minimum = 1, maximum = 1_000, example = 100)]
    count: Option<u32>,
}

/// What has been changed about a room.
#[derive(Serialize, ToSchema)]
struct Changes {
    /// Newest first.
    changes: Vec<Change>,
}

/// 200 with the last changes, newest first.
#[utoipa::path(
    get,
    path = "",
    tag = "Rooms",
    summary = "Who changed what",
    params(AuditQuery),
    responses((status = 200, description = "The last changes.", body = Changes), GetProblems),
)]
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
    Ok(axum::Json(Changes { changes }))
}
