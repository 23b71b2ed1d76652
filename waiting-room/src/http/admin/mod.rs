//! The ops listener's calls on rooms.

mod codes;
mod control;
mod events;
mod metrics;

pub(crate) use codes::codes;
pub(crate) use control::control;
pub(crate) use events::{audit, get, list, patch, put, rate};
pub(crate) use metrics::{metrics, metrics_stream};
