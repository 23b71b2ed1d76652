//! The states of a reservation, and what leads from one to another.
//!
//! | from | to | stock |
//! |---|---|---|
//! | held | confirmed | held → confirmed, only while its time has not passed |
//! | held | cancelled, expired | returned |
//! | confirmed | cancelled, expired | refused |
//! | expired, cancelled | confirmed | refused |

use serde::Serialize;
use utoipa::ToSchema;

use super::Refusal;

/// Where a reservation stands. A hold whose time has passed is expired, whether it has been swept
/// yet or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ReservationState)]
pub enum State {
    /// The places are kept until the hold's time has passed.
    Held,
    /// The places are sold.
    Confirmed,
    /// The hold's time has passed, the places went back.
    Expired,
    /// The owner let go, the places went back.
    Cancelled,
}

/// What is to happen to a reservation. (That a hold expires is the sweeper's doing and cannot be
/// asked for.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is paid for.
    Confirm,
    /// Its owner lets go.
    Cancel,
}

/// What an action leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The hold leaves `held` for this state.
    To(State),
    /// It is there already: the same answer, and no effect.
    Already,
    /// The action is refused.
    Refused(Refusal),
}

impl State {
    /// The state's name, on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Confirmed => "confirmed",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Not the name of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a state of a reservation")]
pub struct UnknownState;

impl TryFrom<String> for State {
    type Error = UnknownState;

    fn try_from(name: String) -> Result<Self, UnknownState> {
        [Self::Held, Self::Confirmed, Self::Expired, Self::Cancelled]
            .into_iter()
            .find(|state| state.as_str() == name)
            .ok_or(UnknownState)
    }
}

impl Action {
    /// The state it leads to from `held`.
    pub fn target(self) -> State {
        match self {
            Self::Confirm => State::Confirmed,
            Self::Cancel => State::Cancelled,
        }
    }
}

/// What `action` leads to.
pub fn step(state: State, action: Action) -> Step {
    match (state, action) {
        (State::Held, _) => Step::To(action.target()),
        (State::Confirmed, Action::Confirm) | (State::Cancelled, Action::Cancel) => Step::Already,
        (State::Confirmed, Action::Cancel) => Step::Refused(Refusal::InvalidTransition),
        (State::Cancelled, Action::Confirm) | (State::Expired, _) => {
            Step::Refused(Refusal::HoldExpired)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATES: [State; 4] = [State::Held, State::Confirmed, State::Expired, State::Cancelled];

    fn action() -> impl Strategy<Value = Action> {
        prop::sample::select(vec![Action::Confirm, Action::Cancel])
    }

    #[test]
    fn what_is_refused_says_why() {
        let (gone, never) = (Refusal::HoldExpired, Refusal::InvalidTransition);
        assert_eq!(step(State::Confirmed, Action::Cancel), Step::Refused(never));
        assert_eq!(step(State::Cancelled, Action::Confirm), Step::Refused(gone));
        assert_eq!(step(State::Expired, Action::Confirm), Step::Refused(gone));
        assert_eq!(step(State::Expired, Action::Cancel), Step::Refused(gone));
    }

    #[test]
    fn a_state_is_read_back_from_its_name() {
        for state in STATES {
            assert_eq!(State::try_from(state.as_str().to_owned()), Ok(state));
        }
        assert_eq!(State::try_from("pending".to_owned()), Err(UnknownState));
    }

    proptest! {
        #[test]
        fn a_hold_leaves_held_exactly_once(actions in prop::collection::vec(action(), 0..20)) {
            let (mut state, mut moves) = (State::Held, 0);
            for action in actions {
                if let Step::To(next) = step(state, action) {
                    prop_assert_ne!(next, State::Held);
                    state = next;
                    moves += 1;
                    prop_assert_eq!(step(state, action), Step::Already);
                }
            }
            prop_assert!(moves <= 1);
            prop_assert_eq!(moves == 0, state == State::Held);
        }

        #[test]
        fn what_has_expired_stays_expired(action in action()) {
            prop_assert_eq!(step(State::Expired, action), Step::Refused(Refusal::HoldExpired));
        }
    }
}
