//! The rules of a sale, and the writers who apply them.
//!
//! Pure: [`basket`], [`fingerprint`], [`key`], [`order`], [`decide`], [`hold`]. Signing and naming:
//! [`receipt`], [`pending`], [`issued_key`]. In line: [`line`], with what it remembers of a sector
//! without places in [`sold_out`]; [`writers`], and each [`writer`], which takes from it under a
//! [`lease`].
//!
//! Architecture invariant: nothing here asks a clock for the state of a sale, and only a writer the database.

pub mod basket;
pub mod decide;
pub mod fingerprint;
pub mod hold;
pub mod issued_key;
pub mod key;
pub mod lease;
pub mod lease_turn;
pub mod line;
pub mod order;
pub mod pending;
pub mod receipt;
pub mod sold_out;
pub mod writer;
pub mod writers;

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
    /// The hold was extended before, or may not last longer.
    NotExtendable,
    /// Another payment of the reservation is under way or done.
    PaymentUnderWay,
    /// The reservation was confirmed without a payment of ours.
    NotPayable,
}

impl Refusal {
    /// Whether it is the outcome of the request, to be given again for the same key. What could
    /// not be decided may be asked again under the same key.
    pub fn is_decision(self) -> bool {
        match self {
            Self::SoldOut
            | Self::PurchaseLimit
            | Self::InvalidTransition
            | Self::HoldExpired
            | Self::NotExtendable
            | Self::NotPayable => true,
            Self::KeyReused | Self::NotFound | Self::PaymentUnderWay => false,
        }
    }
}
