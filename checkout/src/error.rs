//! Which error belongs where, and what the caller is told.
//!
//! - [`Refusal`]: the sale says no, by a rule. Its answer is recorded and repeated.
//! - [`StoreError`]: the store gave no result. Nothing is recorded; the caller may ask again.
//! - [`Rejected`]: an operator's change cannot be made.
//! - [`Problem`]: what goes over the wire. Everything becomes one here.

use shared::problem::{Code, Problem};

use crate::sale::Refusal;
use crate::sale::basket::InvalidBasket;
use crate::store::StoreError;
use crate::store::admin::Rejected;

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (code, detail) = match refusal {
            Refusal::SoldOut => {
                (Code::SoldOut, "There are not as many places left as were asked for.")
            }
            Refusal::PurchaseLimit => {
                (Code::PurchaseLimit, "That would be more places than one person may have.")
            }
            Refusal::KeyReused => (
                Code::IdempotencyKeyReused,
                "This Idempotency-Key was sent with another request. Use a new one.",
            ),
            Refusal::NotFound => return Self::not_found(),
            Refusal::InvalidTransition => {
                (Code::InvalidTransition, "A confirmed reservation cannot be cancelled.")
            }
            Refusal::NotExtendable => (
                Code::InvalidTransition,
                "This reservation was extended before, or may not be held any longer.",
            ),
            Refusal::PaymentUnderWay => (
                Code::InvalidTransition,
                "Another payment of this reservation is under way or done. Look at the reservation \
                 to see how it stands.",
            ),
            Refusal::NotPayable => {
                (Code::InvalidTransition, "This reservation is confirmed already.")
            }
            Refusal::HoldExpired => {
                (Code::HoldExpired, "The hold has ended, and its places were given back.")
            }
        };
        Self::new(code, detail)
    }
}

/// 429: too many wait already. Come back at different times, so that you do not meet again.
pub fn queue_full() -> Problem {
    const SPREAD_SECONDS: u64 = 4;
    let seconds = 1 + crate::clock::random_below(SPREAD_SECONDS);
    Problem::new(Code::QueueFull, "Too many requests are waiting. Nothing was changed.")
        .retry_after_seconds(seconds)
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Refused(refusal) => Self::from(*refusal),
            StoreError::Rejected(rejected) => Self::from(rejected),
            StoreError::KeyTaken | StoreError::Conflict | StoreError::Unavailable(None) => {
                Self::unavailable()
            }
            StoreError::Unavailable(Some(reason)) => {
                tracing::warn!(error = %reason, "Postgres could not be asked");
                Self::unavailable()
            }
            StoreError::OutcomeUnknown => Self::new(
                Code::Unavailable,
                "It is not known whether this took effect. Send the same request again, with the \
                 same Idempotency-Key: nothing is lost and nothing is done twice.",
            )
            .retry_after_seconds(1),
            StoreError::Unexpected(reason) => {
                tracing::error!(error = %reason, "Postgres gave an unexpected answer");
                Self::internal()
            }
        }
    }
}

impl From<InvalidBasket> for Problem {
    fn from(invalid: InvalidBasket) -> Self {
        let code = match invalid {
            InvalidBasket::Lines => Code::InvalidRequest,
            InvalidBasket::Quantity => Code::InvalidQuantity,
        };
        Self::new(code, invalid.to_string())
    }
}

impl From<&Rejected> for Problem {
    fn from(rejected: &Rejected) -> Self {
        let code = match rejected {
            Rejected::UnknownEvent => return Self::not_found(),
            Rejected::CapacityTaken { .. } => Code::InvalidQuantity,
            Rejected::Incomplete | Rejected::Twice | Rejected::NameTaken | Rejected::TooMany => {
                Code::InvalidRequest
            }
        };
        Self::new(code, rejected.to_string())
    }
}
