//! One file a call, and what the calls share.

pub(crate) mod admin;
pub(crate) mod admission;
pub(crate) mod answer;
pub(crate) mod claim;
pub(crate) mod cookie;
pub(crate) mod describe;
pub(crate) mod draw;
pub(crate) mod heartbeat;
pub(crate) mod join;
pub(crate) mod join_limit;
pub(crate) mod jwks;
pub(crate) mod leave;
pub(crate) mod page;
pub(crate) mod place;
pub(crate) mod readiness;
pub(crate) mod status;
pub(crate) mod stream;
pub(crate) mod visitor;
