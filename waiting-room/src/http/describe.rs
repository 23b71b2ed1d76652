//! What `/openapi.json` says before it comes to the calls.

use shared::docs::{Calls, Credential, Group, SentAs};
use shared::ops::Sessions;

use super::cookie;
use crate::settings::Settings;

const PUBLIC: &str = "\
Gives everybody who comes a queue number, calls people in order, and lets them through the gate with a \
signed admission token for the checkout.

Join, and keep the ticket of the answer: it is your place. Ask for your place when `poll_after_ms` has \
passed, send a heartbeat every `heartbeat_after_ms`, and claim as soon as the status is `ready`.

Errors are `application/problem+json` (RFC 9457) with a stable `code`. Times are RFC 3339, UTC. Every \
answer carries `x-request-id`.";

const OPERATORS: &str = "\
Rooms, their settings and what they do. Changes take effect on every node within a second and are \
written to the audit log.

Errors are `application/problem+json` (RFC 9457) with a stable `code`. Times are RFC 3339, UTC, or \
milliseconds since the Unix epoch where the name ends in `_ms`. Every answer carries `x-request-id`.";

const SERVICE: Group = Group { name: "Service", about: "The service itself." };

/// The public listener.
pub(crate) fn public<S: Clone + Send + Sync + 'static>(settings: &Settings) -> Calls<S> {
    let ticket = Credential {
        name: "queue_ticket",
        about: "The `ticket` of the last answer about one's place: for apps.",
        sent_as: SentAs::Bearer,
    };
    let cookie = Credential {
        name: "queue_cookie",
        about: "The same in a cookie named after the event, as join sets it: for browsers.",
        sent_as: SentAs::Cookie(cookie::name_of_any(!settings.insecure_cookies)),
    };
    let admission = Credential {
        name: "admission",
        about: "The admission token that a claim is answered with.",
        sent_as: SentAs::Bearer,
    };
    let groups = [
        Group { name: "Queue", about: "One person's place, from joining to the gate." },
        Group { name: "Room", about: "What is the same for everybody." },
        SERVICE,
    ];
    Calls::new("Stanchion waiting room", PUBLIC, &groups, &[ticket, cookie, admission])
}

/// The ops listener.
pub(crate) fn operators<S: Clone + Send + Sync + 'static>(secure_cookies: bool) -> Calls<S> {
    let token = Credential {
        name: "ops_token",
        about: "`STANCHION_OPS_TOKEN` of this service; for what changes nothing, `STANCHION_OPS_READ_TOKEN`.",
        sent_as: SentAs::Bearer,
    };
    let session = Credential {
        name: "ops_session",
        about: "Of a browser that has signed in. What changes something needs a header \
                `X-Stanchion-Dashboard` too, which no page from elsewhere can send.",
        sent_as: SentAs::Cookie(Sessions::cookie_name(secure_cookies)),
    };
    let groups = [Group { name: "Rooms", about: "One room an event." }, SERVICE];
    Calls::new("Stanchion waiting room, for operators", OPERATORS, &groups, &[token, session])
        .behind(&[token.name, session.name])
}
