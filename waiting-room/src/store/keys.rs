//! Names of the keys. All of an event's keys carry the hash tag `{event}`, so that one script may
//! touch them all on Redis Cluster.

use shared::ids::EventId;

/// The set of all events' names: the only key without an event.
pub(super) const EVENTS: &str = "stanchion:events";

/// An event's keys, in the order in which `room.lua` names them.
pub(super) fn of(event: &EventId) -> Vec<String> {
    [
        "room",       // hash: settings and scalars
        "issued",     // list: times of the tokens of the last minute
        "sessions",   // sorted set: queue number by the end of its lease
        "admissions", // hash: queue number to its token's jti, kid, iat, exp
        "spent",      // bitmap by number: admitted once, or left
        "present",    // bitmap by rank: who is there
        "seen",       // bitmap by rank: who was seen in this grace period
        "calls",      // sorted set: serving counter by the time of the call
        "standing",   // sorted set: queue number by the time it was last at the gate or recalled
    ]
    .map(|name| format!("stanchion:{{{event}}}:{name}"))
    .into()
}
