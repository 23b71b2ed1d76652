//! The waiting room: gives out queue numbers, calls people, and lets them through the gate with a
//! signed admission token.
//!
//! A request's way: [`app`] (routes) → `http/` (one file a call) → [`rooms`] (what this node
//! knows) or [`store`] (one Lua script, one atomic step). [`node`] is what a node does by itself.
//! [`board`] is what operators watch. [`queue`] is the arithmetic: pure, without I/O, clock or async.
//!
//! # Metrics
//!
//! Besides those of every service (`http_requests_total`, `http_request_duration_seconds`,
//! `panics_total`):
//!
//! | name | kind | what it counts |
//! |---|---|---|
//! | `waiting_room_waiting` | gauge, `event` | people who are there and have not been called |
//! | `waiting_room_standing_at_gate` | gauge, `event` | called people who are there and not admitted yet |
//! | `waiting_room_active_sessions` | gauge, `event` | sessions at the moment |
//! | `waiting_room_active_sessions_max` | gauge, `event` | the cap on them |
//! | `waiting_room_serving` | gauge, `event` | everybody up to this rank has been called or passed over |
//! | `waiting_room_last_number` | gauge, `event` | the last queue number given out |
//! | `waiting_room_rate_configured` | gauge, `event` | tokens per minute, as configured |
//! | `waiting_room_rate_effective` | gauge, `event` | the same as it is now |
//! | `waiting_room_checkout_queue_delay_ms` | gauge, `event` | the longest wait that the checkout has told of |
//! | `waiting_room_tokens_total` | counter, `event` | tokens issued, over all nodes |
//! | `waiting_room_called_total` | counter, `event` | people called, over all nodes |
//! | `waiting_room_failed_ticks_total` | counter | looks at a room that failed |
//! | `waiting_room_restores_total` | counter, `event` | times that this node has given a store its room back |

pub mod app;
pub mod board;
mod error;
mod http;
pub mod identities;
pub mod keys;
pub mod node;
pub mod own;
pub mod page;
pub mod polls;
pub mod presence;
pub mod queue;
pub mod rooms;
mod run;
pub mod settings;
pub mod store;

pub use run::run;
pub use settings::{Cli, Command, Settings};
