//! What `/openapi.json` says before it comes to the calls.

use shared::docs::{Calls, Credential, Group, SentAs};

const PUBLIC: &str = "\
Sells a limited stock, and never a place twice.

Come with the admission token that the waiting room has given you, hold places, and pay within \
`expires_at`. The answer carries a `reservation_token`: with it the reservation can be read, paid for and let \
go after the admission is over.

Every POST that changes something needs an `Idempotency-Key`. Send the same request with the same key again, \
as often as you like: what was decided is answered to the byte as it was, with `Idempotent-Replayed: true`, \
refusals such as `sold_out` and `purchase_limit` too. Not kept, so that the key can be used again, is what is \
said before that: 400, 401, 403, 404, 429, 503, and a `sold_out` from memory to somebody who has no answer on \
record at the event.

Amounts are whole minor units of the currency. Errors are `application/problem+json` (RFC 9457) with a stable \
`code`. Times are RFC 3339, UTC. Every answer carries `x-request-id`.";

const OPERATORS: &str = "\
Events, their sectors and prices, and whether everything adds up. Changes take effect on every instance \
within a second.

Amounts are whole minor units of the currency. Errors are `application/problem+json` (RFC 9457) with a stable \
`code`. Every answer carries `x-request-id`.";

const SERVICE: Group = Group { name: "Service", about: "The service itself." };

/// The public listener.
pub(crate) fn public<S: Clone + Send + Sync + 'static>() -> Calls<S> {
    let credentials = [
        Credential {
            name: "admission_token",
            about: "From the waiting room (JWT, EdDSA), for one person at one event.",
            sent_as: SentAs::Bearer,
        },
        Credential {
            name: "reservation_token",
            about: "From the answer to a reservation, for that one reservation.",
            sent_as: SentAs::Bearer,
        },
        Credential {
            name: "service_token",
            about: "`STANCHION_SERVICE_TOKEN`: the shop's back end.",
            sent_as: SentAs::Bearer,
        },
    ];
    let groups = [
        Group {
            name: "Reservations",
            about: "One person's places, from the hold to the purchase.",
        },
        Group { name: "Payments", about: "From the charge to the purchase, or back." },
        Group { name: "Events", about: "What is the same for everybody." },
        SERVICE,
    ];
    Calls::new("Stanchion checkout", PUBLIC, &groups, &credentials)
}

/// The ops listener.
pub(crate) fn operators<S: Clone + Send + Sync + 'static>() -> Calls<S> {
    let token = Credential {
        name: "ops_token",
        about: "`STANCHION_OPS_TOKEN` of this service; for what changes nothing, `STANCHION_OPS_READ_TOKEN`.",
        sent_as: SentAs::Bearer,
    };
    let groups = [
        Group { name: "Events", about: "What is sold." },
        Group { name: "Outbox", about: "What the shop is told by webhooks." },
        SERVICE,
    ];
    Calls::new("Stanchion checkout, for operators", OPERATORS, &groups, &[token])
        .behind(&[token.name])
}
