//! What somebody sees who opens the page: by his ticket, or as anybody who has none.

use std::sync::Arc;

use http::HeaderMap;
use shared::ids::EventId;
use time::OffsetDateTime;

use crate::app::App;
use crate::error::Error;
use crate::http::answer::{PlaceBody, Status, place_of};
use crate::http::status::moment;
use crate::http::visitor::{Visitor, reclaim, ticket};
use crate::page::{Countdown, Figures, Language, Rule, State, View};
use crate::queue::{Access, EstimatedWait, Identity, Mode, QueueingMethod, Seed};
use crate::rooms::Room;

/// Seconds until a page without a place is asked for again.
const LOOK_AGAIN_SECONDS: u64 = 15;
const RETRY_SECONDS: u64 = 5;

/// What is shown, and to whom.
pub(super) struct Seen {
    pub(super) view: View,
    pub(super) number: Option<u64>,
    /// To be kept in the cookie.
    pub(super) ticket: Option<String>,
}

pub(super) async fn seen(
    app: &App,
    event: &EventId,
    room: &Arc<Room>,
    headers: &HeaderMap,
    language: &Language,
) -> Result<Seen, Error> {
    let Some(ticket) = ticket(app, event, headers) else {
        let mut view = outside(room, language);
        view.refresh = (view.state == State::Scheduled).then_some(LOOK_AGAIN_SECONDS);
        return Ok(Seen { view, number: None, ticket: None });
    };
    let visitor = Visitor::new(event.clone(), room.clone(), ticket);
    let number = Some(visitor.person.number);
    match place(app, &visitor).await {
        Ok(Some(body)) => {
            let view = inside(room, &body, language);
            let is_new = visitor.ticket.ahead != Some(body.users_ahead);
            Ok(Seen { view, number, ticket: is_new.then_some(body.ticket) })
        }
        Ok(None) => Ok(Seen { view: View::new(State::Over, language), number: None, ticket: None }),
        Err(Error::Store(error)) => {
            tracing::warn!(error = %error, "the store did not answer");
            let mut view = View::new(State::Unavailable, language);
            view.refresh = Some(RETRY_SECONDS);
            Ok(Seen { view, number, ticket: None })
        }
        Err(error) => Err(error),
    }
}

/// As "my place" has it, but a person who reloads a page early is shown it all the same.
async fn place(app: &App, visitor: &Visitor) -> Result<Option<PlaceBody>, Error> {
    reclaim(app, visitor).await?;
    let body = place_of(app, visitor).await?;
    if let Some(body) = &body
        && visitor.room.polls.admit(visitor.person.number, body.poll_after_ms).is_ok()
    {
        app.presence.note_poll(&visitor.event, visitor.person, body.poll_after_ms);
    }
    Ok(body)
}

/// What anybody sees who has no place.
pub(super) fn outside(room: &Room, language: &Language) -> View {
    let settings = &room.settings;
    let state = match room.snapshot.mode {
        _ if settings.queueing_method == QueueingMethod::Reject => State::Off,
        Mode::Scheduled => State::Scheduled,
        Mode::SoldOut => State::SoldOut,
        Mode::Closed => State::Closed,
        Mode::Draining => State::Draining,
        _ if settings.identity == Identity::Jwt => State::SignIn,
        _ if settings.access == Access::InviteOnly => State::Invite,
        Mode::PreQueue | Mode::Open | Mode::Paused => State::Welcome,
    };
    let mut view = View::new(state, language);
    if state == State::Scheduled {
        opening(&mut view, room, language, settings.pre_queue_at, "joining_opens");
    }
    view
}

/// What somebody sees who has a place.
pub(super) fn inside(room: &Room, body: &PlaceBody, language: &Language) -> View {
    let state = match body.status {
        Status::PreQueue => State::PreQueue,
        Status::Waiting => State::Waiting,
        Status::Paused => State::Paused,
        Status::Ready if room.settings.queueing_method == QueueingMethod::Passthrough => {
            State::Passthrough
        }
        Status::Ready => State::Ready,
        Status::Admitted => State::Admitted,
        Status::Missed => State::Missed,
        Status::SoldOut => State::SoldOut,
        Status::Closed => State::Closed,
    };
    let mut view = View::new(state, language);
    view.refresh = Some(body.poll_after_ms.div_ceil(1_000));
    let is_ahead = matches!(state, State::Waiting | State::Paused);
    if is_ahead || matches!(state, State::PreQueue | State::Missed) {
        view.figures = Some(Figures {
            number: Some(language.figure(body.number)),
            ahead: is_ahead.then(|| language.figure(body.users_ahead)),
            wait: (state == State::Waiting).then(|| wait(body.estimated_wait_seconds, language)),
        });
    }
    if state == State::Waiting
        && matches!(body.reason, "checkout_busy" | "checkout_full" | "all_in_baskets")
    {
        view.reason = Some(language.text(&format!("reason_{}", body.reason)).to_owned());
    }
    if let Some(seconds) = body.seconds_left {
        let label = language.text("time_left").to_owned();
        view.countdown = Some(Countdown { label, figure: clock(seconds) });
    }
    if state == State::PreQueue {
        opening(&mut view, room, language, room.settings.opens_at, "opens_in");
    }
    view
}

/// How long it is until something begins, and when the room opens.
fn opening(
    view: &mut View,
    room: &Room,
    language: &Language,
    at: Option<OffsetDateTime>,
    label: &str,
) {
    let opens_at = room.settings.opens_at;
    view.opens = opens_at.map(|at| language.filled("opens_at", "time", &date(at)));
    let Some(at) = at.or(opens_at) else { return };
    let left = (at - moment(room.snapshot.now_ms)).whole_seconds();
    let Some(left) = u64::try_from(left).ok().filter(|left| *left > 0) else { return };
    view.countdown =
        Some(Countdown { label: language.text(label).to_owned(), figure: clock(left) });
}

/// The wait in minutes, and in hours when it is long.
fn wait(wait: Option<EstimatedWait>, language: &Language) -> String {
    let Some(EstimatedWait { min, max }) = wait else {
        return language.text("wait_unknown").to_owned();
    };
    if max < 60 {
        return language.text("wait_short").to_owned();
    }
    let (unit, size) = if min < 5_400 { ("minutes", 60) } else { ("hours", 3_600) };
    let from = (min + size / 2).div_euclid(size).max(1);
    let to = max.div_ceil(size).max(from);
    let range = if from == to { from.to_string() } else { format!("{from}–{to}") };
    language.filled("wait_about", "duration", &language.filled(unit, "n", &range))
}

/// `1:05`, `2:00:00`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// Without the script nothing is known of anybody's time zone.
fn date(at: OffsetDateTime) -> String {
    let at = at.to_offset(time::UtcOffset::UTC);
    let (date, hour, minute) = (at.date(), at.hour(), at.minute());
    format!("{date} {hour:02}:{minute:02} UTC")
}

/// How the order is decided; nothing where the room is off.
pub(super) fn rule(room: &Room, number: Option<u64>, language: &Language) -> Option<Rule> {
    let (settings, now) = (&room.settings, &room.snapshot);
    let plain = |key| Some(Rule { text: language.text(key).to_owned(), draw: None, command: None });
    let opens_at = match (settings.queueing_method, settings.opens_at) {
        (QueueingMethod::Passthrough | QueueingMethod::Reject, _) => return None,
        (QueueingMethod::Fifo, _) | (QueueingMethod::Random, None) => return plain("rule_fifo"),
        (QueueingMethod::Random, Some(opens_at)) => opens_at,
    };
    let is_drawn = now.opened_at_ms > 0;
    let (rule, draw) = if is_drawn {
        ("rule_random", "draw_check")
    } else {
        ("rule_random_before", "draw_committed")
    };
    Some(Rule {
        text: language.filled(rule, "time", &date(opens_at)),
        draw: Some(language.text(draw).to_owned()),
        command: Seed::from_hex(&now.seed).map(|seed| command(room, &seed, number)),
    })
}

/// Before the draw its commitment; after it all that recomputes a rank.
fn command(room: &Room, seed: &Seed, number: Option<u64>) -> String {
    let (commitment, n) = (seed.commitment(), room.snapshot.draw_n);
    if room.snapshot.opened_at_ms == 0 {
        return commitment;
    }
    let beacon = match room.settings.beacon() {
        "" => String::new(),
        beacon => format!(" --beacon '{}'", beacon.replace('\'', r"'\''")),
    };
    let (seed, number) =
        (seed.to_hex(), number.map_or("N".to_owned(), |number| number.to_string()));
    format!(
        "waiting-room verify-draw --seed {seed} --commitment {commitment} --n {n}{beacon} --number {number}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::language;

    #[test]
    fn a_wait_is_said_in_minutes_and_hours() {
        let english = language(None, None, None);
        let said = |min, max| wait(Some(EstimatedWait { min, max }), english);
        assert_eq!(wait(None, english), "we can’t say yet");
        assert_eq!(said(10, 50), "less than a minute");
        assert_eq!(said(240, 360), "about 4–6 min");
        assert_eq!(said(50, 60), "about 1 min");
        assert_eq!(said(7_200, 10_000), "about 2–3 h");
        assert_eq!((clock(65), clock(7_265)), ("1:05".to_owned(), "2:01:05".to_owned()));
    }
}
