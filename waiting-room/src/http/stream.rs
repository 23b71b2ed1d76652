//! `GET /v1/events/{event}/queue/stream`: my place as server-sent events, for people near the front.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, Stream, StreamExt};
use shared::problem::{Code, Problem};
use shared::problems;
use tokio::sync::watch;

use super::answer::{PlaceBody, personal, place_of};
use super::visitor::Visitor;
use crate::app::App;
use crate::error::Error;
use crate::presence::NOTE_EVERY;

/// Near the front is whoever has at most this many people before him: further behind, polling costs
/// less than an open connection.
const USERS_AHEAD_MAX: u64 = 20_000;
/// Proxies cut connections that are silent for a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(25);

/// What one open stream keeps: who it is for, and where the room was when he was last told.
struct Follower {
    app: Arc<App>,
    visitor: Visitor,
    changes: watch::Receiver<u64>,
    told: Option<String>,
    /// When he was last noted as being there.
    noted: Instant,
}

problems!(StreamProblems: NotFound, NotReady, Missed);

/// 200 with `event: place` whenever the place has changed; 409 `not_ready` for people further behind,
/// who poll.
///
/// For people with at most 20,000 before them; `not_ready` tells those further behind to poll. The stream
/// ends when the turn is over and when the node stops.
#[utoipa::path(
    get,
    path = "",
    tag = "Queue",
    summary = "My place, as it changes",
    security(("queue_ticket" = []), ("queue_cookie" = [])),
    responses(
        (
            status = 200, description = "Server-sent events `place`, each with this as its data.",
            body = PlaceBody, content_type = "text/event-stream",
        ),
        StreamProblems,
    ),
)]
pub(crate) async fn stream(
    State(app): State<Arc<App>>,
    visitor: Visitor,
) -> Result<Response, Error> {
    if visitor.room.users_ahead(visitor.person.rank) > USERS_AHEAD_MAX {
        return Err(
            Problem::new(Code::NotReady, "Streams are for people near the front: poll.").into()
        );
    }
    if place_of(&app, &visitor).await?.is_none() {
        return Err(super::place::turn_is_over().into());
    }
    app.presence.note(&visitor.event, visitor.person);
    let mut changes = visitor.room.changes.subscribe();
    changes.mark_changed();
    let shutdown = app.shutdown.clone();
    let places = places(Follower { app, visitor, changes, told: None, noted: Instant::now() });
    let sse = Sse::new(places.take_until(shutdown.cancelled_owned()))
        .keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    Ok(personal(sse).into_response())
}

fn places(follower: Follower) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(follower, |mut follower| async move {
        loop {
            let event = follower.visitor.event.clone();
            if follower.noted.elapsed() >= NOTE_EVERY {
                follower.app.presence.note(&event, follower.visitor.person);
                follower.noted = Instant::now();
            }
            match tokio::time::timeout(NOTE_EVERY, follower.changes.changed()).await {
                Ok(changed) => changed.ok()?,
                Err(_) => continue,
            }
            follower.changes.borrow_and_update();
            let room = follower.app.rooms.get(&event)?;
            follower.visitor = Visitor::new(event, room, follower.visitor.ticket);
            // Boxed, so that an open stream does not keep the room of a question to the store: 6 of 7 KB.
            match Box::pin(place_of(&follower.app, &follower.visitor)).await {
                Ok(Some(body)) => {
                    follower.visitor.ticket.ahead = Some(body.users_ahead);
                    let text = serde_json::to_string(&body).ok()?;
                    if follower.told.as_ref() != Some(&text) {
                        let event = Event::default().event("place").data(&text);
                        follower.told = Some(text);
                        return Some((Ok(event), follower));
                    }
                }
                Ok(None) => return None,
                // The store is away: the next change tells more.
                Err(_) => {}
            }
        }
    })
}
