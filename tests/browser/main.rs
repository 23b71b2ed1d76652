//! What people see, tried in a real browser.

mod page;
