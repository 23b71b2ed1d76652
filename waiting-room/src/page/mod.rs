//! The waiting page: its languages, its template, and what it shows in which state.

mod accept;
mod languages;
mod link;
mod theme;
mod view;

pub use languages::{LANGUAGES, Language, Texts, language};
pub use link::{Link, is_from_here};
pub use theme::{Asset, Theme};
pub use view::{Assets, Context, Countdown, Figures, Rule, State, Tag, View};
