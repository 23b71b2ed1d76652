//! What the customer is told about a payment. Pure.

use serde::Serialize;
use utoipa::ToSchema;

use super::operation::State;
use crate::sale::hold;

/// The true state of a payment, in the customer's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = PaymentState)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// The provider is at it, or is being asked.
    PaymentProcessing,
    /// The customer has to do something at the provider: `action` says what.
    ActionRequired,
    /// The hold has ended while the provider is at it: if the money comes, places are looked for.
    ConfirmingAvailability,
    /// The customer has let go while the provider is at it: if the money comes, it is given back.
    Withdrawing,
    /// The money was not taken.
    PaymentFailed,
    /// Paid, and the places are the customer's.
    Paid,
    /// Paid late: other places were taken for it, see `reservation_id`.
    Recovered,
    /// The money was taken and goes back.
    RefundPending,
    /// The provider has refused to give it back; it is seen to by people.
    RefundDelayed,
    /// The money went back.
    Refunded,
}

/// What is known of a charge.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Where the charge stands.
    pub charge: State,
    /// Where its refund stands, if there is one.
    pub refund: Option<(State, bool)>,
    /// Whether the customer has to do something.
    pub needs_customer: bool,
    /// Whether the money bought another reservation than this one.
    pub bought_another: bool,
    /// Where the reservation stands.
    pub reservation: hold::State,
}

/// What is shown of it.
pub fn shown(known: Known) -> Shown {
    match (known.charge, known.refund) {
        (_, Some((State::Succeeded, _))) => Shown::Refunded,
        (_, Some((State::Failed, true))) => Shown::RefundDelayed,
        (_, Some(_)) => Shown::RefundPending,
        (State::Succeeded, None) if known.bought_another => Shown::Recovered,
        (State::Succeeded, None) => Shown::Paid,
        (State::Failed, None) => Shown::PaymentFailed,
        (State::Created | State::Submitted | State::Unknown, None) => match known.reservation {
            hold::State::Cancelled => Shown::Withdrawing,
            hold::State::Expired => Shown::ConfirmingAvailability,
            _ if known.needs_customer => Shown::ActionRequired,
            _ => Shown::PaymentProcessing,
        },
    }
}

impl Shown {
    /// Whether the customer need not look again.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::PaymentFailed | Self::Paid | Self::Recovered | Self::Refunded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(charge: State, reservation: hold::State) -> Known {
        Known { charge, refund: None, needs_customer: false, bought_another: false, reservation }
    }

    #[test]
    fn a_late_payment_is_told_step_by_step() {
        let expired = hold::State::Expired;
        let waiting = known(State::Unknown, expired);
        assert_eq!(shown(waiting), Shown::ConfirmingAvailability);
        let bought = Known { bought_another: true, ..known(State::Succeeded, expired) };
        assert_eq!(shown(bought), Shown::Recovered);
        let owed =
            Known { refund: Some((State::Created, false)), ..known(State::Succeeded, expired) };
        assert_eq!(shown(owed), Shown::RefundPending);
        let refused = Known { refund: Some((State::Failed, false)), ..owed };
        assert_eq!(shown(refused), Shown::RefundPending, "it is tried again");
        let stuck = Known { refund: Some((State::Failed, true)), ..owed };
        assert_eq!(shown(stuck), Shown::RefundDelayed);
        let back = Known { refund: Some((State::Succeeded, false)), ..owed };
        assert_eq!(shown(back), Shown::Refunded);
    }

    #[test]
    fn what_is_not_known_is_never_told_as_a_failure() {
        for charge in [State::Created, State::Submitted, State::Unknown] {
            for reservation in [
                hold::State::Held,
                hold::State::Confirmed,
                hold::State::Expired,
                hold::State::Cancelled,
            ] {
                let shown = shown(known(charge, reservation));
                assert!(!shown.is_settled(), "{charge:?} {reservation:?}: {shown:?}");
            }
        }
    }
}
