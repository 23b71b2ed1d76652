//! What can happen to a reservation.

use crate::sale::hold::State;

/// What happened to a reservation. To add one: a variant here and its name, and the row, written by the
/// transaction in which it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It was made.
    Held,
    /// Its hold lasts longer.
    Extended,
    /// Its places are sold.
    Confirmed,
    /// Its owner let go.
    Cancelled,
    /// Its hold's time has passed.
    Expired,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Held, Self::Extended, Self::Confirmed, Self::Cancelled, Self::Expired];

    /// Its name in the database, and on the wire behind `reservation.`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Extended => "extended",
            Self::Confirmed => "confirmed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// Where the reservation stood when this had happened. None for what leaves it where it is.
    pub fn state(self) -> Option<State> {
        match self {
            Self::Held | Self::Extended => Some(State::Held),
            Self::Confirmed => Some(State::Confirmed),
            Self::Cancelled => Some(State::Cancelled),
            Self::Expired => Some(State::Expired),
        }
    }
}

/// Not the name of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nothing that can happen to a reservation")]
pub struct UnknownKind;

impl TryFrom<String> for Kind {
    type Error = UnknownKind;

    fn try_from(name: String) -> Result<Self, UnknownKind> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or(UnknownKind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_back_from_its_name_and_every_state_has_one() {
        for kind in Kind::ALL {
            assert_eq!(Kind::try_from(kind.as_str().to_owned()), Ok(kind));
        }
        assert_eq!(Kind::try_from("sold".to_owned()), Err(UnknownKind));
        // `leave_held.sql` writes the state's name.
        for state in [State::Held, State::Confirmed, State::Cancelled, State::Expired] {
            let kind = Kind::try_from(state.as_str().to_owned());
            assert_eq!(kind.map(Kind::state), Ok(Some(state)));
        }
    }
}
