//! The rules of a sale. Pure, but for [`turn`] and [`lease`], which put requests in line.
//!
//! Architecture invariant: nothing here asks the database or a clock for the state of a sale.

pub mod basket;
pub mod fingerprint;
pub mod hold;
pub mod key;
pub mod lease;
pub mod receipt;
pub mod turn;

/// Why the sale says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A sector has fewer places left than were asked for.
    SoldOut,
    /// The person would hold and own more than the event allows.
    PurchaseLimit,
    /// The key was used for another request.
    KeyReused,
    /// No such sector or reservation, or not this person's.
    NotFound,
    /// A confirmed reservation is not let go by this way.
    InvalidTransition,
    /// The hold has ended.
    HoldExpired,
}

impl Refusal {
    /// Whether it is the outcome of the request, to be given again for the same key. What could
    /// not be decided may be asked again under the same key.
    pub fn is_decision(self) -> bool {
        match self {
            Self::SoldOut | Self::PurchaseLimit | Self::InvalidTransition | Self::HoldExpired => {
                true
            }
            Self::KeyReused | Self::NotFound => false,
        }
    }
}
