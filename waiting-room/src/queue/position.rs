//! Where somebody stands, from his rank and the room's counters.

use super::draw::Draw;

/// One person in the queue of one room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    /// The queue number: given once, never changes.
    pub number: u64,
    /// The order of being called: drawn, or the number itself.
    pub rank: u64,
}

impl Person {
    /// The person with a number, where there has been a draw or not.
    pub fn new(number: u64, draw: Option<&Draw>) -> Self {
        Self { number, rank: draw.map_or(number, |draw| draw.rank(number)) }
    }

    pub(crate) fn arguments(self) -> Vec<String> {
        vec![self.number.to_string(), self.rank.to_string()]
    }
}

/// Whether somebody has been called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Not called yet.
    Waiting {
        /// How many stand before him and have not been called.
        users_ahead: u64,
    },
    /// His rank is at or below the serving counter.
    Called,
}

/// The one place that says who has been called: everybody at or below the serving counter.
pub fn position(rank: u64, serving: u64) -> Position {
    match rank.checked_sub(serving) {
        None | Some(0) => Position::Called,
        Some(steps) => Position::Waiting { users_ahead: steps - 1 },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_one_at_the_counter_is_called_and_the_next_has_nobody_ahead() {
        assert_eq!(position(7, 7), Position::Called);
        assert_eq!(position(8, 7), Position::Waiting { users_ahead: 0 });
        assert_eq!(position(1, 0), Position::Waiting { users_ahead: 0 });
    }

    proptest! {
        #[test]
        fn users_ahead_never_rises_while_the_counter_moves_on(
            rank in 1u64..1_000_000, serving in 0u64..1_000_000, moved in 0u64..1_000_000,
        ) {
            let ahead = |serving| match position(rank, serving) {
                Position::Waiting { users_ahead } => i128::from(users_ahead),
                Position::Called => -1,
            };
            prop_assert!(ahead(serving + moved) <= ahead(serving));
        }
    }
}
