//! `POST /v1/events/{event}/queue`: join, or find out that one is already in.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use shared::ids::{EventId, Subject};
use shared::problem::{Code, OptionalJson, Problem};
use shared::problems;
use shared::redis::RedisError;
use utoipa::ToSchema;
use uuid::Uuid;

use super::answer::{PlaceBody, Status, personal, place_of, waiting};
use super::cookie;
use super::visitor::{InRoom, Visitor, reclaim, ticket};
use crate::app::App;
use crate::error::{Error, no_event};
use crate::queue::{Identity, Mode, OnStoreError, Position, QueueingMethod, Ticket, position};
use crate::rooms::Room;
use crate::store::{Join, Joined, Number};

/// How long somebody is asked to wait before he tries a full queue again, in seconds.
const FULL_RETRY_SECONDS: u64 = 30;

problems!(
    JoinProblems: NotFound, InvalidToken, AccessCode, Closed, SoldOut, RateLimited,
    QueueFull as SERVICE_UNAVAILABLE, UnsupportedMediaType,
);

/// What a join may say of itself. Without a body it says nothing.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Join)]
pub(crate) struct JoinBody {
    /// A random id of this join: sent again within a minute, it gets the same number.
    #[serde(default)]
    join_id: Option<Uuid>,
    /// An access code.
    #[serde(default)]
    #[schema(example = "EARLY-BIRD")]
    access_code: Option<String>,
    /// The shop's user token, where the room tells people apart by it.
    #[serde(default)]
    user_token: Option<String>,
}

impl JoinBody {
    /// With an access code and nothing else.
    pub(crate) fn with_code(access_code: Option<String>) -> Self {
        Self { access_code, ..Self::default() }
    }
}

/// 201 with a new place, or 200 with the one that the person has. Who has missed his turn is called
/// again by this.
///
/// Keep the ticket of the answer: it is the place, also after a closed tab. Sent along with another join it
/// finds that place again. The body may be left out.
#[utoipa::path(
    post,
    path = "",
    tag = "Queue",
    summary = "Join the queue",
    security((), ("queue_ticket" = []), ("queue_cookie" = [])),
    request_body = Option<JoinBody>,
    responses(
        (
            status = 201, description = "A new place.", body = PlaceBody,
            headers(("Set-Cookie" = String, description = "The ticket, for browsers: 30 days, `HttpOnly`.")),
        ),
        (
            status = 200, description = "The place that the person has already.", body = PlaceBody,
            headers(("Set-Cookie" = String, description = "The ticket, for browsers.")),
        ),
        JoinProblems,
    ),
)]
pub(crate) async fn join(
    State(app): State<Arc<App>>,
    InRoom { event, room }: InRoom,
    headers: HeaderMap,
    OptionalJson(body): OptionalJson<JoinBody>,
) -> Result<Response, Error> {
    let (status, body) = enter(&app, &event, &room, &headers, body).await?;
    respond(&app, &event, status, body)
}

/// The place of whoever asks, and whether it is new.
pub(crate) async fn enter(
    app: &App,
    event: &EventId,
    room: &Arc<Room>,
    headers: &HeaderMap,
    body: JoinBody,
) -> Result<(StatusCode, PlaceBody), Error> {
    if let Some(ticket) = ticket(app, event, headers) {
        let visitor = Visitor::new(event.clone(), room.clone(), ticket);
        reclaim(app, &visitor).await?;
        if let Some(body) = known(app, &visitor).await? {
            return Ok((StatusCode::OK, body));
        }
    }
    let (ticket, status) = match new_place(app, event, room, &body).await {
        Err(Error::Store(error)) => (without_place(event, room, error)?, StatusCode::CREATED),
        place => place?,
    };
    let visitor = Visitor::new(event.clone(), room.clone(), ticket);
    if status == StatusCode::OK
        && let Some(body) = known(app, &visitor).await?
    {
        return Ok((status, body));
    }
    let is_off = room.settings.queueing_method == QueueingMethod::Passthrough;
    let body = match position(visitor.person.rank, visitor.room.snapshot.serving) {
        // A new place is behind the counter; this node's view may be of a moment later.
        Position::Waiting { .. } if !visitor.ticket.priority && !is_off => {
            let ahead = visitor.room.users_ahead(visitor.person.rank);
            waiting(app, &visitor, ahead)?
        }
        _ if visitor.ticket.priority => waiting(app, &visitor, 0)?,
        _ => place_of(app, &visitor).await?.ok_or_else(Problem::internal)?,
    };
    Ok((status, body))
}

/// The place of somebody who has one; `None` when that turn is over for good.
async fn known(app: &App, visitor: &Visitor) -> Result<Option<PlaceBody>, Error> {
    app.presence.note(&visitor.event, visitor.person);
    let body = place_of(app, visitor).await?;
    if body.as_ref().is_some_and(|body| body.status == Status::Missed) {
        app.store.recall(&visitor.event, visitor.person).await?;
        return place_of(app, visitor).await;
    }
    Ok(body)
}

async fn new_place(
    app: &App,
    event: &EventId,
    room: &Room,
    body: &JoinBody,
) -> Result<(Ticket, StatusCode), Error> {
    let user = match room.settings.identity {
        Identity::Anonymous => None,
        Identity::Jwt => Some(app.identities.verify(body.user_token.as_deref()).await?),
    };
    let join_id = body.join_id.map(|id| id.to_string()).unwrap_or_default();
    let join = Join {
        identity: user.as_ref().map_or("", Subject::as_str),
        join_id: &join_id,
        access_code: body.access_code.as_deref().unwrap_or_default(),
    };
    let (number, status) = match app.store.join(event, join).await? {
        Joined::Joined(number) => (number, StatusCode::CREATED),
        Joined::Again(number) => (number, StatusCode::OK),
        Joined::Full => return Err(full().into()),
        Joined::Refused { mode } => return Err(refused(mode).into()),
        Joined::CodeMissing => {
            return Err(Problem::new(
                Code::AccessCode,
                "This room is for people with an access code.",
            )
            .into());
        }
        Joined::CodeInvalid => {
            return Err(
                Problem::new(Code::AccessCode, "The access code is unknown or used up.").into()
            );
        }
        Joined::NoRoom => return Err(no_event()),
    };
    room.own.joined(number.number);
    let Number { number, epoch, iat, priority } = number;
    let sub = match user {
        Some(user) => user,
        // The same join has the same person: the id is as random as a new one would be.
        None => anonymous(body.join_id.unwrap_or_else(Uuid::new_v4))?,
    };
    Ok((Ticket { event: event.clone(), number, sub, epoch, iat, priority, ahead: None }, status))
}

/// A ticket without a number, where the operator has chosen to let people through while the store
/// does not answer.
fn without_place(event: &EventId, room: &Room, error: RedisError) -> Result<Ticket, Error> {
    if room.settings.on_store_error == OnStoreError::Closed {
        return Err(error.into());
    }
    let (epoch, iat) = (room.snapshot.epoch, room.snapshot.now_ms / 1_000);
    let sub = anonymous(Uuid::new_v4())?;
    Ok(Ticket { event: event.clone(), number: 0, sub, epoch, iat, priority: false, ahead: None })
}

/// A person of whom nothing is known. Never the id itself: who sees a token must not learn how to join
/// as that person.
fn anonymous(id: Uuid) -> Result<Subject, Problem> {
    let name = Uuid::new_v5(&Uuid::NAMESPACE_OID, id.as_bytes());
    name.to_string().parse().map_err(|_| Problem::internal())
}

fn full() -> Problem {
    Problem::new(Code::QueueFull, "The queue is full at the moment.")
        .with_status(StatusCode::SERVICE_UNAVAILABLE)
        .retry_after_seconds(FULL_RETRY_SECONDS)
}

fn refused(mode: Mode) -> Problem {
    match mode {
        Mode::SoldOut => Problem::new(Code::SoldOut, "Everything is sold."),
        Mode::Draining => {
            Problem::new(Code::Closed, "The queue takes nobody new; who is in it is still served.")
        }
        Mode::Scheduled => Problem::new(Code::Closed, "The waiting room has not opened yet."),
        _ => Problem::new(Code::Closed, "The waiting room is closed."),
    }
}

fn respond(
    app: &App,
    event: &EventId,
    status: StatusCode,
    body: PlaceBody,
) -> Result<Response, Error> {
    let cookie = cookie::set(app, event, &body.ticket)?;
    Ok(personal((status, [(header::SET_COOKIE, cookie)], axum::Json(body)).into_response()))
}
