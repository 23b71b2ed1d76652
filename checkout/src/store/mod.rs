//! Postgres, which holds the truth.
//!
//! # Lock order
//!
//! Every transaction locks rows in this order, and within a table ascending by key, so that no two
//! can wait for one another:
//!
//! 0. `payments`, and before them `payment_webhooks`: taking one waits for whoever takes the same
//! 1. `reservations` (the sweeper skips rows that are locked instead of waiting for them)
//! 2. `user_totals`, by `sub`
//! 3. `idempotency_keys`: inserting a key waits for whoever is about to decide the same one
//! 4. `sectors`, by `sector_id`: shared, by the items' foreign key; for themselves when an operator
//!    renames one
//! 5. `sector_stock`, by `sector_id`: the hot rows, last and for the shortest time
//!
//! A hold's own new rows (reservation and items) wait for nobody; that the items of a basket
//! share-lock `sectors` before its key is recorded cannot close a circle, because whoever locks
//! `sectors` for themselves never asks for a key. A batch (`batch`) takes 2, 3 and 4 in one statement
//! (`batch_write.sql`), whose parts run in this order, each ascending. Operators' changes take the event's row first, which keeps them
//! apart from one another; the sale only reads that row. Rows of `reservation_events` are new ones to
//! whoever changes a reservation and wait for nobody; whoever tells, forgets or replays them (`outbox`)
//! has no other lock.
//!
//! # What holds where
//!
//! A place is not sold twice because of the condition in `take_stock.sql`, with the table's CHECKs
//! behind it; a key has one outcome because of the primary key of `idempotency_keys`; no person passes the limit because of the condition in `batch_write.sql` and
//! `take_user_total.sql`; a hold leaves
//! `held` once because of the condition in `leave_held.sql` and `expire.sql`; a reservation is charged for
//! once, and a charge given back once, because of the unique indexes of `payments`. Time is Postgres'.

pub mod admin;
pub mod batch;
mod columns;
mod connect;
pub mod dead_letters;
mod error;
pub mod expire;
pub mod extend;
pub mod figures;
pub mod idempotency;
pub mod migrate;
pub mod outbox;
pub mod payments;
pub mod read;
pub mod reserve;
pub mod sessions;
mod settle;
pub mod transaction;
pub mod transition;

pub use connect::Store;
pub use error::StoreError;
