//! The ops listener's calls on rooms.

pub(crate) mod codes;
pub(crate) mod control;
pub(crate) mod events;
pub(crate) mod metrics;
