//! Who is asking: the queue ticket from the `Authorization` header or the event's cookie.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, header};
use shared::ids::EventId;
use shared::ops::bearer;
use shared::problem::{Path, Problem};

use crate::app::App;
use crate::error::{Error, no_event, no_ticket};
use crate::queue::{Person, Ticket};
use crate::rooms::Room;

/// Cookies live for 30 days: longer than any on-sale, and a place must survive a closed tab.
const COOKIE_SECONDS_MAX: u32 = 30 * 24 * 60 * 60;

/// A room that exists, and the event it belongs to.
pub(crate) struct InRoom {
    pub(crate) event: EventId,
    pub(crate) room: Arc<Room>,
}

/// Somebody with a ticket that holds in this room.
pub(crate) struct Visitor {
    pub(crate) event: EventId,
    pub(crate) room: Arc<Room>,
    pub(crate) ticket: Ticket,
    pub(crate) person: Person,
}

impl FromRequestParts<Arc<App>> for InRoom {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Error> {
        let Path(event) = Path::<EventId>::from_request_parts(parts, app).await?;
        let room = app.rooms.get(&event).ok_or_else(no_event)?;
        Ok(Self { event, room })
    }
}

impl FromRequestParts<Arc<App>> for Visitor {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Error> {
        let InRoom { event, room } = InRoom::from_request_parts(parts, app).await?;
        let ticket = ticket(app, &event, &room, &parts.headers).ok_or_else(no_ticket)?;
        let person = Person::fifo(ticket.number);
        Ok(Self { event, room, ticket, person })
    }
}

/// The ticket, if there is one, it is ours, and it belongs to this life of the store.
pub(crate) fn ticket(
    app: &App,
    event: &EventId,
    room: &Room,
    headers: &HeaderMap,
) -> Option<Ticket> {
    let text = match bearer(headers) {
        Some(text) => text,
        None => cookie(headers, &cookie_name(app, event))?,
    };
    app.tickets.read(text, event).filter(|ticket| ticket.epoch == room.snapshot.epoch)
}

/// A cookie that carries the ticket to this event's calls and nowhere else.
pub(crate) fn set_cookie(app: &App, event: &EventId, ticket: &str) -> Result<HeaderValue, Problem> {
    cookie_header(app, event, ticket, COOKIE_SECONDS_MAX)
}

/// A cookie that takes the ticket away.
pub(crate) fn clear_cookie(app: &App, event: &EventId) -> Result<HeaderValue, Problem> {
    cookie_header(app, event, "", 0)
}

fn cookie_header(
    app: &App,
    event: &EventId,
    value: &str,
    seconds: u32,
) -> Result<HeaderValue, Problem> {
    let name = cookie_name(app, event);
    let secure = if app.secure_cookies { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).map_err(|_| Problem::internal())
}

/// Named after the event, so that two rooms on one domain keep apart. `__Host-` makes the browser
/// refuse it from a subdomain or without TLS.
fn cookie_name(app: &App, event: &EventId) -> String {
    let prefix = if app.secure_cookies { "__Host-" } else { "" };
    format!("{prefix}stanchion-{event}")
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}
