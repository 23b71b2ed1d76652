//! The queue's arithmetic: pure, without I/O, clock or async.

mod brand;
mod crowd;
mod draw;
mod history;
mod mode;
mod pacing;
mod position;
mod settings;
mod ticket;
mod wait;

/// A queue delay of the checkout above this, in milliseconds, lowers the rate.
pub const QUEUE_DELAY_MS_MAX: u64 = 250;

pub use brand::{Colour, secure_origin};
pub use crowd::there_ahead;
pub use draw::{ALGORITHM, Draw, Seed};
pub use history::{History, Issued};
pub use mode::{Control, Mode};
pub use pacing::{Call, Pace};
pub use position::{Person, Position, position};
pub use settings::{Access, Identity, InvalidSettings, OnStoreError, QueueingMethod, RoomSettings};
pub use ticket::{Ticket, TicketKey};
pub use wait::{EstimatedWait, Look, Movement};
