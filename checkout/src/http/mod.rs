//! From a request to what is to be done, and back. In the order in which a reservation passes:
//! [`admitted`], [`limit`], [`reserve`].

pub mod admin;
pub mod admin_body;
pub mod admitted;
pub(crate) mod describe;
pub mod extend;
pub mod issued_keys;
pub mod key;
pub mod limit;
pub mod metrics;
pub mod outbox;
pub mod owner;
pub mod pay;
pub mod reservations;
pub mod reserve;
pub mod reserve_body;
pub mod sectors;
pub mod service;
pub mod webhooks;
