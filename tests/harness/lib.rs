//! What the tests stand on: real stores, real services on free ports, and a client.
//!
//! All tests of one run share a Postgres and a Redis; each has a database of its own in both, so
//! that they run side by side. A test that stops a store starts one of its own.

pub mod browser;
pub mod client;
pub mod demo;
pub mod deployment;
pub mod document;
pub mod gate;
pub mod greeter;
pub mod keys;
pub mod ledger;
pub mod nginx;
pub mod programs;
pub mod proxy;
#[path = "../rehearse/mod.rs"]
pub mod rehearse;
mod resp;
pub mod room;
pub mod sale;
pub mod sandbox;
pub mod shop;
pub mod stores;
pub mod stripe;
pub mod wait;
