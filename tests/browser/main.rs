//! What people see, tried in a real browser.

mod front;
mod page;
mod rehearsal;
mod self_check;
mod shop;
mod shop_provider;
mod shop_states;
