//! What people see, tried in a real browser.

mod front;
mod page;
mod rehearsal;
mod shop;
