//! The waiting room: gives out queue numbers, calls people, and lets them through the gate with a
//! signed admission token.
//!
//! A request's way: [`app`] (routes) → `http/` (one file a call) → [`rooms`] (what this node
//! knows) or [`store`] (one Lua script, one atomic step). [`node`] is what a node does by itself.
//! [`queue`] is the arithmetic: pure, without I/O, clock or async.

pub mod app;
mod error;
mod http;
pub mod identities;
pub mod keys;
pub mod node;
pub mod own;
pub mod polls;
pub mod presence;
pub mod queue;
pub mod rooms;
mod run;
pub mod settings;
pub mod store;

pub use run::run;
pub use settings::{Cli, Command, Settings};
