//! `GET` and `POST /events/{event}`: the waiting page, with and without JavaScript, and what it loads.

pub(crate) mod assets;
pub(crate) mod forms;
mod render;
pub(crate) mod room_page;
mod seen;
