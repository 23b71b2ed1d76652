//! What people see, tried in a real browser.

mod dashboard;
mod dashboard_controls;
mod dashboard_looks;
mod front;
mod page;
mod rehearsal;
mod self_check;
mod shop;
mod shop_provider;
mod shop_states;
