//! The ops listener's calls on rooms.

mod control;
mod events;

pub(crate) use control::control;
pub(crate) use events::{get, list, patch, put, rate};
