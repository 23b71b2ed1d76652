//! What the checkout and the waiting room tell one another through Redis: who is done, who is not to
//! reserve any more, and how the sale goes.
//!
//! Architecture invariant: nothing here is on a request's path, and nothing waits for it. Without
//! Redis sessions end with their tokens, and the waiting room lets people in as configured.

pub mod endings;
pub mod queue_delay;
pub mod revoked;
pub mod stock;
