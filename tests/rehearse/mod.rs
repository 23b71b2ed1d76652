//! The rehearsal of a sale: a crowd that behaves as people do, against any deployment, by its addresses alone.
//!
//! | module | what it holds | |
//! |---|---|---|
//! | [`cli`], [`target`] | what it is told, and where it goes | |
//! | [`plan`], [`arrivals`], [`habits`] | who comes when, and what each of them does: fixed by the seed before anything starts | pure |
//! | [`stage`] | the event that the rehearsal makes for itself, and closes | |
//! | [`person`] | one person's way: queue, gate, shop | |
//! | [`caller`], [`cut`] | requests, and requests that are cut off; how long each took | |
//! | [`watch`] | what operators and the public are shown meanwhile, once a second | |
//! | [`record`] | all that was seen | |
//! | [`verdict`], [`figures`] | what follows from it | pure |
//! | [`report`] | as HTML and as JSON | pure |
//!
//! It is open-loop: people come when the plan says so, whether or not those before them were answered, and a
//! request's time counts from the moment at which it was due.

mod arrivals;
mod caller;
mod cli;
mod conduct;
mod cut;
mod figures;
mod habits;
mod person;
mod plan;
mod progress;
mod random;
mod record;
mod report;
mod stage;
mod target;
mod verdict;
mod watch;

pub use cli::Cli;
pub use conduct::run;
pub use report::Report;
pub use verdict::Outcome;
