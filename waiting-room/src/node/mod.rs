//! What a node does by itself: the tick, giving a lost room back, writing heartbeats. There is no
//! leader; every node does the same, and the store's scripts make that safe.

mod heartbeats;
mod recovery;
mod tick;

pub use heartbeats::write_heartbeats_until;
pub(crate) use tick::tick;
pub use tick::tick_until;
