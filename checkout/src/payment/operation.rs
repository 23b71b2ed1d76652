//! The states of a payment operation, and what leads from one to another. Pure.
//!
//! | from | the provider says | to |
//! |---|---|---|
//! | created, submitted, unknown | succeeded | succeeded |
//! | created, submitted, unknown | failed, of this very try | failed |
//! | created, submitted, unknown | pending | submitted |
//! | created, submitted, unknown | nothing that can be used | unknown: it may have happened |
//! | charge succeeded | anything | stays: money that was taken was taken |
//! | charge failed | succeeded | surplus: taken all the same, so it is given back |
//! | refund succeeded or failed | the opposite | asked again: only its own record decides |

/// What is done with the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is taken.
    Charge,
    /// It is given back.
    Refund,
}

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody outside has heard of it.
    Created,
    /// It was sent, or is about to be.
    Submitted,
    /// It was sent, and what came of it is not known.
    Unknown,
    /// The money has moved.
    Succeeded,
    /// The money has not moved.
    Failed,
}

/// What the provider says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// The money has moved.
    Succeeded,
    /// The money has not moved, and will not.
    Failed,
    /// It is at it.
    Pending,
    /// No answer, or one that says nothing: a timeout is never a failure.
    Nothing,
}

/// What the provider says, and how we have come to hear it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub said: Said,
    /// Whether it is about the present try, and not an earlier one.
    pub this_round: bool,
    /// Whether it answers a question about the present state. Else it may have been on its way for
    /// long: a webhook, or the answer to the order itself.
    pub asked: bool,
}

/// What follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Stay,
    /// The operation goes to this state.
    To(State),
    /// The charge was given up, and the money was taken all the same.
    Surplus,
    /// It contradicts what is known: the provider has to be asked.
    Ask,
}

/// Whether a charge is still wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// The places are kept.
    Live,
    /// The hold has ended, or was settled otherwise.
    Over,
    /// The owner has let go.
    LetGo,
}

/// What is to be done about an operation that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Todo {
    /// Send it.
    Submit,
    /// Ask the provider.
    LookUp,
    /// Forget it: it was never sent, and nobody wants it any more.
    GiveUp,
    /// Send it again under another key: the provider has refused the last one.
    NextRound,
    /// Nothing: it is done.
    Nothing,
}

/// Tries of a refund that the provider refuses, one soon after the other. From then on it is tried once
/// a day, and an operator has to see to it.
pub const ROUNDS_QUICK: i32 = 8;
/// In seconds.
const DAY: f64 = 86_400.0;

impl Kind {
    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Refund => "refund",
        }
    }
}

impl State {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Created, Self::Submitted, Self::Unknown, Self::Succeeded, Self::Failed];

    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Submitted => "submitted",
            Self::Unknown => "unknown",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// Whether its outcome is known.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

/// Not the name of a kind or a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a word of payments")]
pub struct UnknownWord;

impl TryFrom<String> for Kind {
    type Error = UnknownWord;

    fn try_from(name: String) -> Result<Self, UnknownWord> {
        [Self::Charge, Self::Refund]
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or(UnknownWord)
    }
}

impl TryFrom<String> for State {
    type Error = UnknownWord;

    fn try_from(name: String) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|state| state.as_str() == name).ok_or(UnknownWord)
    }
}

impl TryFrom<String> for Hold {
    type Error = UnknownWord;

    fn try_from(name: String) -> Result<Self, UnknownWord> {
        match name.as_str() {
            "live" => Ok(Self::Live),
            "over" => Ok(Self::Over),
            "let_go" => Ok(Self::LetGo),
            _ => Err(UnknownWord),
        }
    }
}

/// What follows from the provider's word.
pub fn step(kind: Kind, state: State, word: Word) -> Step {
    match (state, word.said) {
        (State::Created | State::Submitted | State::Unknown, said) => under_way(said, word),
        (State::Failed, Said::Succeeded) if kind == Kind::Charge => Step::Surplus,
        (State::Failed, Said::Succeeded) if word.asked => Step::To(State::Succeeded),
        (State::Failed, Said::Succeeded) => Step::Ask,
        (State::Succeeded, Said::Failed) if kind == Kind::Refund && word.this_round => {
            if word.asked { Step::To(State::Failed) } else { Step::Ask }
        }
        (State::Succeeded | State::Failed, _) => Step::Stay,
    }
}

fn under_way(said: Said, word: Word) -> Step {
    match said {
        Said::Succeeded => Step::To(State::Succeeded),
        Said::Failed if word.this_round => Step::To(State::Failed),
        Said::Failed => Step::Stay,
        Said::Pending => Step::To(State::Submitted),
        Said::Nothing => Step::To(State::Unknown),
    }
}

/// What is to be done about an operation that is due.
pub fn due(kind: Kind, state: State, hold: Hold) -> Todo {
    match (kind, state) {
        (Kind::Charge, State::Created) if hold != Hold::Live => Todo::GiveUp,
        (_, State::Created) => Todo::Submit,
        (_, State::Submitted | State::Unknown) => Todo::LookUp,
        (Kind::Refund, State::Failed) => Todo::NextRound,
        (_, State::Succeeded | State::Failed) => Todo::Nothing,
    }
}

/// Seconds to the next look at an operation that was looked after so often: the first pause, doubled each
/// time, up to 256 of it. None when it is done.
pub fn next_look(kind: Kind, state: State, tries: Tries, first: f64) -> Option<f64> {
    const DOUBLINGS_MAX: i32 = 8;
    let doubled = |times: i32| first * 2_f64.powi(times.clamp(0, DOUBLINGS_MAX));
    match (kind, state) {
        (Kind::Refund, State::Failed) if tries.round >= ROUNDS_QUICK => Some(DAY),
        (Kind::Refund, State::Failed) => Some(doubled(tries.round)),
        (_, State::Succeeded | State::Failed) => None,
        (_, State::Created | State::Submitted | State::Unknown) => Some(doubled(tries.attempts)),
    }
}

/// How often something was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tries {
    /// Which try it is, from 0: another one is made when the provider has refused the last.
    pub round: i32,
    /// How often it was looked after.
    pub attempts: i32,
}

/// What the provider knows an operation by: the same for every attempt of a try.
pub fn key(payment: uuid::Uuid, round: i32) -> String {
    if round == 0 { payment.to_string() } else { format!("{payment}-{round}") }
}

#[cfg(test)]
mod tests;
