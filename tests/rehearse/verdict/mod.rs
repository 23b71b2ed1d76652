//! What held, as far as that can be seen from outside. Pure.
//!
//! The numbers are those of the design's invariants.

mod gate;
mod money;
mod order;
mod sale;

use serde::Serialize;

use super::record::{Promised, Record};
pub(crate) use gate::busiest_minute;
pub(crate) use order::{is_always_there, ranks};

/// How it stands with something that must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was put to the test, and held.
    Held,
    /// It did not hold.
    Broken,
    /// Nothing was seen that could have told.
    NotObserved,
}

impl Outcome {
    /// The word for people.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::NotObserved => "not observed",
        }
    }
}

/// One thing that must hold.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Check {
    /// The invariant's number, or a word for what is none.
    pub(crate) id: &'static str,
    pub(crate) what: &'static str,
    pub(crate) outcome: Outcome,
    /// The numbers.
    pub(crate) seen: String,
    /// Without it too little was seen for a verdict.
    #[serde(skip)]
    pub(crate) is_needed: bool,
}

impl Check {
    /// Broken when there is anything wrong, else held when there was anything to see.
    fn new(id: &'static str, what: &'static str, tried: u64, wrong: u64, seen: String) -> Self {
        let outcome = match (wrong, tried) {
            (1.., _) => Outcome::Broken,
            (0, 0) => Outcome::NotObserved,
            (0, _) => Outcome::Held,
        };
        Self { id, what, outcome, seen, is_needed: false }
    }

    fn needed(self) -> Self {
        Self { is_needed: true, ..self }
    }
}

/// Everything that must hold, in the design's order.
pub(crate) fn judge(promised: &Promised, record: &Record) -> Vec<Check> {
    vec![
        sale::stock(promised, record).needed(),
        sale::rows(promised, record).needed(),
        sale::keys(record),
        sale::kept(record),
        sale::holds_end_once(record),
        sale::limit(promised, record),
        money::charges(record),
        gate::rate(promised, record).needed(),
        gate::cap(promised, record).needed(),
        gate::one_token(record),
        order::numbers(record).needed(),
        order::counter(record).needed(),
        sale::forged(record),
        order::draw(promised, record),
        order::turns(record),
        sale::answers(record),
    ]
}

/// The exit status: 0 all of it held, 1 something is broken, 3 ended early or too little seen.
pub(crate) fn exit_code(checks: &[Check], ended_early: bool) -> u8 {
    let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    let unseen = checks.iter().any(|one| one.is_needed && one.outcome == Outcome::NotObserved);
    match (any(Outcome::Broken), ended_early || unseen) {
        (true, _) => 1,
        (false, true) => 3,
        (false, false) => 0,
    }
}

#[cfg(test)]
mod tests;
