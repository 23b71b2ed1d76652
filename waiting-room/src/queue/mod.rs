//! The queue's arithmetic: pure, without I/O, clock or async.

mod mode;
mod pacing;
mod position;
mod settings;
mod ticket;
mod wait;

pub use mode::{Control, Mode};
pub use pacing::people_to_call;
pub use position::{Person, Position, position};
pub use settings::{InvalidSettings, RoomSettings};
pub use ticket::{Ticket, TicketKey};
pub use wait::{EstimatedWait, Movement};
