//! Who comes when and does what. Pure, and the same for the same seed.

use serde::Serialize;

use super::arrivals::Curve;
use super::habits::{Habits, Leaves, Payer, Shares};
use super::random::Random;

/// One person who is to come.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// Counted from 0.
    pub(crate) index: usize,
    /// Milliseconds from the start.
    pub(crate) at_ms: u64,
    pub(crate) habits: Habits,
    /// For what he decides on the way.
    pub(crate) random: Random,
}

/// How many of the planned people do what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) people: usize,
    pub(crate) before_the_opening: usize,
    pub(crate) leave_silently: usize,
    pub(crate) leave: usize,
    pub(crate) hidden_tab: usize,
    pub(crate) double_click: usize,
    pub(crate) cut_off: usize,
    pub(crate) two_tabs: usize,
    pub(crate) bots: usize,
    pub(crate) no_show: usize,
    pub(crate) slow_payers: usize,
    pub(crate) declined_first: usize,
    pub(crate) cancel: usize,
    pub(crate) greedy: usize,
}

/// Everybody, in the order of arrival.
pub(crate) fn crowd(
    people: usize,
    curve: &Curve,
    shares: &Shares,
    think: f64,
    seed: u64,
) -> Vec<Planned> {
    let arrivals = curve.arrivals(people, &mut Random::new(seed));
    let one = |(index, at_ms)| {
        let mut random = Random::of(seed, index);
        let habits = Habits::draw(shares, think, &mut random);
        Planned { index, at_ms, habits, random }
    };
    arrivals.into_iter().enumerate().map(one).collect()
}

/// What the crowd will do.
pub(crate) fn count(crowd: &[Planned], curve: &Curve) -> Counts {
    let humans = |does: &dyn Fn(&Habits) -> bool| {
        crowd.iter().filter(|one| !one.habits.bot && does(&one.habits)).count()
    };
    let leaves = |how| move |one: &Habits| one.leaves.is_some_and(|(leaves, _)| leaves == how);
    Counts {
        people: crowd.len(),
        before_the_opening: crowd.iter().filter(|one| one.at_ms < curve.pre_queue_ms).count(),
        leave_silently: humans(&leaves(Leaves::Silently)),
        leave: humans(&leaves(Leaves::Politely)),
        hidden_tab: humans(&|one| one.hidden),
        double_click: humans(&|one| one.double_clicks),
        cut_off: humans(&|one| one.is_cut),
        two_tabs: humans(&|one| one.two_tabs),
        bots: crowd.iter().filter(|one| one.habits.bot).count(),
        no_show: humans(&|one| one.no_show),
        slow_payers: humans(&|one| one.payer == Payer::TooLate),
        declined_first: humans(&|one| one.payer == Payer::DeclinedFirst),
        cancel: humans(&|one| one.payer == Payer::Cancels),
        greedy: humans(&|one| one.greedy),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        shares: Shares,
    }

    #[test]
    fn people_behave_in_the_shares_that_were_asked_for_and_the_same_for_the_same_seed() {
        let shares = Line::parse_from(["rehearse", "--bots", "10", "--hidden", "0"]).shares;
        let curve = Curve { pre_queue_ms: 1_000, arrive_ms: 1_000, early: 50.0, burst: 30.0 };
        let counts = |seed| count(&crowd(4_000, &curve, &shares, 1.0, seed), &curve);
        let first = counts(3);
        assert_eq!(first, counts(3));
        assert_ne!(first, counts(4));
        assert_eq!(first.hidden_tab, 0);
        assert!((320..480).contains(&first.bots), "{first:?}");
        assert!((1_850..2_150).contains(&first.before_the_opening), "{first:?}");
        assert!((780..1_020).contains(&first.double_click), "{first:?}");
    }
}
