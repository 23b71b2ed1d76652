//! That a sector is sold out, from memory: most of a rush is told so without asking Postgres.
//!
//! Nobody is told so who may have an answer on record: somebody with a place who lost the answer
//! must get that answer, and not hear that there are none. So memory knows everybody with any
//! record at the event, and those are looked up.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use shared::ids::Subject;

/// How old what is known may be. Together with the time that a look takes, stock that comes back
/// anywhere is for sale everywhere within a second.
const AGE_MAX: Duration = Duration::from_millis(500);
/// With more people on record than this, memory says nothing. Each takes 8 bytes.
pub const PEOPLE_MAX: usize = 500_000;

/// What is known of a sector without places.
#[derive(Debug, Default)]
pub struct SoldOut {
    /// When the look began that last found no place; none when places may have come back since.
    seen_at: Option<Instant>,
    /// Whoever has an answer on record, hashed: two of one hash are both looked up.
    on_record: HashSet<u64>,
    hasher: RandomState,
    /// Whether it was asked since the last look.
    asked: bool,
}

impl SoldOut {
    /// Whether somebody can be told at once.
    pub fn applies_to(&mut self, sub: &Subject) -> bool {
        self.asked = true;
        self.seen_at.is_some_and(|at| at.elapsed() < AGE_MAX)
            && !self.on_record.contains(&self.hasher.hash_one(sub.as_str()))
    }

    /// A look has found people on record, and no place left if `seen_at` is given.
    pub fn seen(&mut self, seen_at: Option<Instant>, people: &[String]) {
        self.on_record.extend(people.iter().map(|sub| self.hasher.hash_one(sub.as_str())));
        self.seen_at = seen_at.filter(|_| self.on_record.len() <= PEOPLE_MAX);
    }

    /// Places may have come back.
    pub fn forget_stock(&mut self) {
        self.seen_at = None;
    }

    /// Whether it was asked since this was last called.
    pub fn take_asked(&mut self) -> bool {
        std::mem::take(&mut self.asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_has_no_answer_on_record_hears_it_from_memory() {
        let (ada, bob): (Subject, Subject) =
            ("ada".parse().expect("a person"), "bob".parse().expect("a person"));
        let mut memory = SoldOut::default();
        assert!(!memory.applies_to(&ada), "nothing is known");
        memory.seen(Some(Instant::now()), &["ada".to_owned()]);
        assert!(!memory.applies_to(&ada), "she may have a place");
        assert!(memory.applies_to(&bob));
        memory.forget_stock();
        assert!(!memory.applies_to(&bob), "there may be places again");
        memory.seen(Instant::now().checked_sub(AGE_MAX), &[]);
        assert!(!memory.applies_to(&bob), "that was a while ago");
    }
}
