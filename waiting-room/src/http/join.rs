//! `POST /v1/events/{event}/queue`: join, or find out that one is already in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use shared::ids::{EventId, Subject};
use shared::problem::{Code, Problem};
use uuid::Uuid;

use super::answer::{PlaceBody, Status, personal, place_of, waiting};
use super::visitor::{InRoom, Visitor, set_cookie, ticket};
use crate::app::App;
use crate::error::{Error, no_event};
use crate::queue::{Mode, Person, Position, Ticket, position};
use crate::store::Joined;

/// How long somebody is asked to wait before he tries a full queue again, in seconds.
const FULL_RETRY_SECONDS: u64 = 30;

/// 201 with a new place, or 200 with the one that the ticket says. Who has missed his turn is
/// called again by this.
pub(crate) async fn join(
    State(app): State<Arc<App>>,
    InRoom { event, room }: InRoom,
    headers: HeaderMap,
) -> Result<Response, Error> {
    if let Some(ticket) = ticket(&app, &event, &room, &headers) {
        let person = Person::fifo(ticket.number);
        let visitor = Visitor { event: event.clone(), room: room.clone(), ticket, person };
        if let Some(body) = known(&app, &visitor).await? {
            return respond(&app, &event, StatusCode::OK, body);
        }
    }
    let (ticket, person) = new_place(&app, &event).await?;
    let users_ahead = match position(person.rank, room.snapshot.serving) {
        Position::Waiting { users_ahead } => users_ahead,
        Position::Called => 0,
    };
    respond(&app, &event, StatusCode::CREATED, waiting(&room, person, users_ahead, ticket))
}

/// The place of somebody who brings a ticket; `None` when that turn is over for good.
async fn known(app: &App, visitor: &Visitor) -> Result<Option<PlaceBody>, Error> {
    app.presence.note(&visitor.event, visitor.person);
    let text = app.tickets.sign(&visitor.ticket)?;
    let body = place_of(app, visitor, text.clone()).await?;
    if body.as_ref().is_some_and(|body| body.status == Status::Missed) {
        app.store.recall(&visitor.event, visitor.person).await?;
        return place_of(app, visitor, text).await;
    }
    Ok(body)
}

async fn new_place(app: &App, event: &EventId) -> Result<(String, Person), Error> {
    match app.store.join(event).await? {
        Joined::Joined { number, epoch, iat } => {
            let sub: Subject =
                Uuid::new_v4().to_string().parse().map_err(|_| Problem::internal())?;
            let ticket = Ticket { event: event.clone(), number, sub, epoch, iat };
            Ok((app.tickets.sign(&ticket)?, Person::fifo(number)))
        }
        Joined::Full => Err(Problem::new(Code::QueueFull, "The queue is full at the moment.")
            .with_status(StatusCode::SERVICE_UNAVAILABLE)
            .retry_after_seconds(FULL_RETRY_SECONDS)
            .into()),
        Joined::Refused { mode } => Err(refused(mode).into()),
        Joined::NoRoom => Err(no_event()),
    }
}

fn refused(mode: Mode) -> Problem {
    let detail = match mode {
        Mode::Draining => "The queue takes nobody new; who is in it is still served.",
        _ => "The waiting room is closed.",
    };
    Problem::new(Code::Closed, detail)
}

fn respond(
    app: &App,
    event: &EventId,
    status: StatusCode,
    body: PlaceBody,
) -> Result<Response, Error> {
    let cookie: HeaderValue = set_cookie(app, event, &body.ticket)?;
    Ok(personal((status, [(header::SET_COOKIE, cookie)], Json(body)).into_response()))
}
