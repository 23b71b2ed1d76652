//! What people see, tried in a real browser.

mod dashboard;
mod dashboard_controls;
mod dashboard_looks;
mod dashboard_rehearsal;
mod front;
mod page;
mod page_languages;
mod page_states;
mod page_trouble;
mod page_way;
mod rehearsal;
mod self_check;
mod shop;
mod shop_provider;
mod shop_states;
