//! The ops listener's calls on rooms.

pub(crate) mod codes;
pub(crate) mod control;
pub(crate) mod dashboard;
pub(crate) mod events;
pub(crate) mod history;
pub(crate) mod metrics;
