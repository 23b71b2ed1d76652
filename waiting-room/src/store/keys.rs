//! Names of the keys. All of an event's keys carry the hash tag `{event}`, so that one script may
//! touch them all on Redis Cluster.

use shared::ids::EventId;
use shared::signals;

/// The set of all events' names: the only key without an event.
pub(super) const EVENTS: &str = "stanchion:events";

/// An event's keys, in the order in which `room.lua` names them.
pub(super) fn of(event: &EventId) -> Vec<String> {
    [
        "room",              // hash: settings and scalars
        "issued",            // list: times of the tokens of the last minute
        signals::SESSIONS,   // sorted set: queue number by the end of its lease
        signals::ADMISSIONS, // hash: queue number to its token's jti, kid, iat, exp
        "spent",             // bitmap by number: admitted once, or left
        "present",           // bitmap by rank: who is there
        "seen",              // bitmap by rank: who was seen in this grace period
        "calls",    // sorted set: serving counter and people called, by the time of the call
        "came",     // bitmap by rank: who has been at the gate
        "standing", // sorted set: queue number by the time it was last at the gate
        "recalled", // sorted set: queue number by the time it was called by name
        "priority", // sorted set: queue numbers of the priority lane
        "codes",    // hash: access code to uses left and lane
        "identities", // hash: the shop's user to his queue number
        "recent",   // hash: id of a join to its number, for a minute
        "recent-before", // the same of the minute before
        "lost",     // sorted set: sessions counted without a name, by their issue time
        "line",     // sorted set: queue number by the time it first came to the gate
        signals::SIGNALS, // hash: what the checkout says
        "audit",    // stream: changes
    ]
    .map(|name| signals::key(event, name))
    .into()
}
