//! What holds of every operation, whatever the provider says and in whatever order.

use proptest::prelude::*;

use super::*;

fn word() -> impl Strategy<Value = Word> {
    let said =
        prop::sample::select(vec![Said::Succeeded, Said::Failed, Said::Pending, Said::Nothing]);
    (said, any::<bool>(), any::<bool>()).prop_map(|(said, this_round, asked)| Word {
        said,
        this_round,
        asked,
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Charge, Kind::Refund])
}

fn state() -> impl Strategy<Value = State> {
    prop::sample::select(State::ALL.to_vec())
}

/// What an operation becomes, as `store/payments` writes it.
fn after(state: State, step: Step) -> State {
    match step {
        Step::Stay => state,
        Step::To(next) => next,
        Step::Surplus => State::Succeeded,
        Step::Ask => State::Unknown,
    }
}

#[test]
fn a_state_and_a_kind_are_read_back_from_their_names() {
    for state in State::ALL {
        assert_eq!(State::try_from(state.as_str().to_owned()), Ok(state));
    }
    for kind in [Kind::Charge, Kind::Refund] {
        assert_eq!(Kind::try_from(kind.as_str().to_owned()), Ok(kind));
    }
}

#[test]
fn a_refund_that_was_undone_is_asked_about_and_then_tried_again() {
    let told = Word { said: Said::Failed, this_round: true, asked: false };
    assert_eq!(step(Kind::Refund, State::Succeeded, told), Step::Ask);
    let asked = Word { asked: true, ..told };
    assert_eq!(step(Kind::Refund, State::Succeeded, asked), Step::To(State::Failed));
    assert_eq!(due(Kind::Refund, State::Failed, Hold::Over), Todo::NextRound);
    let tries = |round| Tries { round, attempts: 0 };
    assert_eq!(next_look(Kind::Refund, State::Failed, tries(1), 1.0), Some(2.0));
    assert_eq!(next_look(Kind::Refund, State::Failed, tries(ROUNDS_QUICK), 1.0), Some(DAY));
}

proptest! {
    #[test]
    fn money_that_was_taken_stays_taken(words in prop::collection::vec(word(), 0..30)) {
        let (mut state, mut taken) = (State::Created, false);
        for word in words {
            taken |= word.said == Said::Succeeded;
            state = after(state, step(Kind::Charge, state, word));
            prop_assert_eq!(taken, state == State::Succeeded);
        }
    }

    #[test]
    fn silence_is_never_failure(kind in kind(), state in state(), this_round: bool, asked: bool) {
        let word = Word { said: Said::Nothing, this_round, asked };
        prop_assert_ne!(step(kind, state, word), Step::To(State::Failed));
    }

    #[test]
    fn an_earlier_try_cannot_fail_the_present_one(
        kind in kind(), state in state(), asked: bool
    ) {
        let word = Word { said: Said::Failed, this_round: false, asked };
        prop_assert_eq!(step(kind, state, word), Step::Stay);
    }

    #[test]
    fn the_same_word_again_has_no_further_effect(kind in kind(), state in state(), word in word()) {
        let once = after(state, step(kind, state, word));
        if step(kind, state, word) == Step::Ask {
            return Ok(());
        }
        prop_assert_eq!(after(once, step(kind, once, word)), once);
    }

    #[test]
    fn only_a_definite_refusal_leads_to_another_key(
        kind in kind(), state in state()
    ) {
        for hold in [Hold::Live, Hold::Over, Hold::LetGo] {
            let next = due(kind, state, hold) == Todo::NextRound;
            prop_assert_eq!(next, kind == Kind::Refund && state == State::Failed);
        }
    }

    #[test]
    fn what_is_not_done_is_always_looked_after(
        kind in kind(), state in state(), round in 0..100_i32, attempts: i32
    ) {
        let pause = next_look(kind, state, Tries { round, attempts }, 1.0);
        prop_assert!(pause.is_none_or(|pause| (1.0..=DAY).contains(&pause)));
        for hold in [Hold::Live, Hold::Over, Hold::LetGo] {
            let todo = due(kind, state, hold);
            prop_assert_eq!(pause.is_none(), todo == Todo::Nothing);
            prop_assert!(state.is_settled() || todo != Todo::Nothing);
            // What was sent may have been done: it is never forgotten unasked.
            prop_assert!(todo != Todo::GiveUp || state == State::Created);
        }
    }
}
