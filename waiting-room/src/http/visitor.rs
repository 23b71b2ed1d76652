//! Who is asking: the queue ticket from the `Authorization` header or the event's cookie.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::HeaderMap;
use http::request::Parts;
use shared::ids::EventId;
use shared::ops::bearer;
use shared::problem::Path;

use super::cookie;
use crate::app::App;
use crate::error::{Error, no_event, no_ticket};
use crate::queue::{Person, Ticket};
use crate::rooms::Room;

/// A room that exists, and the event it belongs to.
pub(crate) struct InRoom {
    pub(crate) event: EventId,
    pub(crate) room: Arc<Room>,
}

/// Somebody with a ticket for this room.
pub(crate) struct Visitor {
    pub(crate) event: EventId,
    pub(crate) room: Arc<Room>,
    pub(crate) ticket: Ticket,
    pub(crate) person: Person,
    /// The ticket came in the event's cookie, which then has to be kept up to date.
    pub(crate) has_cookie: bool,
}

impl Visitor {
    pub(crate) fn new(event: EventId, room: Arc<Room>, ticket: Ticket) -> Self {
        let person = room.person(ticket.number);
        Self { event, room, ticket, person, has_cookie: false }
    }

    /// Whether he was let in without a place, while the store did not answer.
    pub(crate) fn is_without_place(&self) -> bool {
        self.ticket.number == 0
    }
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
        let ticket = ticket(app, &event, &parts.headers).ok_or_else(no_ticket)?;
        let has_cookie = bearer(&parts.headers).is_none();
        let visitor = Self { has_cookie, ..Self::new(event, room, ticket) };
        reclaim(app, &visitor).await?;
        Ok(visitor)
    }
}

/// The ticket, if there is one, it is ours, and it is for this event. Of whichever epoch: a store that
/// was lost has been given its numbers back.
pub(crate) fn ticket(app: &App, event: &EventId, headers: &HeaderMap) -> Option<Ticket> {
    let text = match bearer(headers) {
        Some(text) => text,
        None => cookie::read(app, event, headers)?,
    };
    app.tickets.read(text, event)
}

/// A number that a restored store does not know of was given out in the moment before the old one was
/// lost, on a node that is lost too: the ticket itself is the record.
pub(crate) async fn reclaim(app: &App, visitor: &Visitor) -> Result<(), Error> {
    let (ticket, now) = (&visitor.ticket, &visitor.room.snapshot);
    if ticket.epoch < now.epoch && ticket.number > now.last_number {
        app.store.reclaim(&visitor.event, visitor.person).await?;
    }
    Ok(())
}
