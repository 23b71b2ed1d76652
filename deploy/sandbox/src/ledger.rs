//! What the sandbox has done, by key. Pure.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Operations kept. No more are taken then: it is not for running long.
const OPERATIONS_MAX: usize = 200_000;
/// A payment method that is always declined.
pub const DECLINED_METHOD: &str = "pm_declined";

/// What is done with the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It is taken.
    Charge,
    /// It is given back.
    Refund,
}

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Under way.
    Processing,
    /// The money has moved.
    Succeeded,
    /// It has not, and will not.
    Declined,
    /// It will not, because the checkout did not want it any more.
    Voided,
}

/// What is asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The same key is the same operation.
    pub key: String,
    /// In the currency's minor unit.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    /// What to charge.
    pub method: Option<String>,
    /// Of a refund: the charge's key.
    pub charge_key: Option<String>,
    /// Given back as it is.
    #[serde(default)]
    pub metadata: Value,
}

/// An operation.
#[derive(Debug, Clone, Serialize)]
pub struct Operation {
    /// The sandbox's own name for it.
    pub id: String,
    /// The checkout's.
    pub key: String,
    /// What is done with the money.
    pub kind: Kind,
    /// Where it stands.
    pub state: State,
    /// In the currency's minor unit.
    pub amount: i64,
    /// ISO 4217.
    pub currency: String,
    /// Of a refund: the charge's key.
    pub charge_key: Option<String>,
    /// Why it was declined.
    pub failure_code: Option<&'static str>,
    /// As it was given.
    pub metadata: Value,
    /// How often it was ordered.
    pub orders: u32,
}

/// Why there is no operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The key was used for something else.
    KeyReused,
    /// There are too many.
    Full,
}

/// Everything that was done.
#[derive(Debug, Default)]
pub struct Ledger {
    operations: HashMap<String, Operation>,
    /// Refunds of more than was charged, all of them declined.
    over_refunds: u64,
}

/// How an order ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// As it should.
    Good,
    /// It is declined.
    Declined,
    /// It stays under way.
    Processing,
}

impl Ledger {
    /// Does an order, once for its key. Whether it was new.
    pub fn order(
        &mut self,
        kind: Kind,
        order: Order,
        id: String,
        fate: impl FnOnce() -> Fate,
    ) -> Result<(Operation, bool), Refused> {
        if let Some(known) = self.operations.get_mut(&order.key) {
            known.orders += 1;
            // A voided key may have been voided before anything was known of it.
            let same = known.kind == kind && known.amount == order.amount;
            return if same || known.state == State::Voided {
                Ok((known.clone(), false))
            } else {
                Err(Refused::KeyReused)
            };
        }
        let impossible = match kind {
            Kind::Charge if order.method.as_deref() == Some(DECLINED_METHOD) => {
                Some("card_declined")
            }
            Kind::Charge => None,
            Kind::Refund => self.impossible(&order),
        };
        let (state, failure_code) = match (impossible, fate()) {
            (Some(reason), _) => (State::Declined, Some(reason)),
            (None, Fate::Good) => (State::Succeeded, None),
            (None, Fate::Declined) => (State::Declined, Some("declined")),
            (None, Fate::Processing) => (State::Processing, None),
        };
        let operation = Operation {
            id,
            key: order.key,
            kind,
            state,
            amount: order.amount,
            currency: order.currency,
            charge_key: order.charge_key,
            failure_code,
            metadata: order.metadata,
            orders: 1,
        };
        Ok((self.keep(operation)?, true))
    }

    /// What has become of a key.
    pub fn find(&self, key: &str) -> Option<Operation> {
        self.operations.get(key).cloned()
    }

    /// Makes sure that nothing is done under this key, unless it was.
    pub fn void(&mut self, key: &str, id: String) -> Result<Operation, Refused> {
        if let Some(known) = self.operations.get_mut(key) {
            if known.state == State::Processing {
                (known.state, known.failure_code) = (State::Voided, Some("voided"));
            }
            return Ok(known.clone());
        }
        self.keep(Operation {
            id,
            key: key.to_owned(),
            kind: Kind::Charge,
            state: State::Voided,
            amount: 0,
            currency: String::new(),
            charge_key: None,
            failure_code: Some("voided"),
            metadata: Value::Null,
            orders: 0,
        })
    }

    /// Ends an operation that is under way.
    pub fn complete(&mut self, key: &str, state: State) -> Option<Operation> {
        let known = self.operations.get_mut(key)?;
        if known.state == State::Processing {
            known.state = state;
            known.failure_code = (state == State::Declined).then_some("declined");
        }
        Some(known.clone())
    }

    /// All operations, and how many refunds were of more than was charged.
    pub fn all(&self) -> (Vec<&Operation>, u64) {
        (self.operations.values().collect(), self.over_refunds)
    }

    fn impossible(&mut self, order: &Order) -> Option<&'static str> {
        let key = order.charge_key.as_deref().unwrap_or_default();
        let charged = self.operations.get(key).filter(|charge| charge.state == State::Succeeded);
        let Some(charged) = charged else { return Some("no_charge") };
        let back: i64 = self
            .operations
            .values()
            .filter(|other| other.kind == Kind::Refund && other.state != State::Declined)
            .filter(|other| other.charge_key.as_deref() == Some(key))
            .map(|other| other.amount)
            .sum();
        if back + order.amount <= charged.amount {
            return None;
        }
        self.over_refunds += 1;
        Some("already_refunded")
    }

    fn keep(&mut self, operation: Operation) -> Result<Operation, Refused> {
        if self.operations.len() >= OPERATIONS_MAX {
            return Err(Refused::Full);
        }
        self.operations.insert(operation.key.clone(), operation.clone());
        Ok(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(key: &str, charge: Option<&str>) -> Order {
        Order {
            key: key.to_owned(),
            amount: 1_000,
            currency: "EUR".to_owned(),
            method: None,
            charge_key: charge.map(str::to_owned),
            metadata: Value::Null,
        }
    }

    #[test]
    fn the_same_key_is_the_same_operation_and_money_goes_back_once() {
        let mut ledger = Ledger::default();
        let mut done = |kind, order| {
            ledger.order(kind, order, "id".to_owned(), || Fate::Good).expect("there is room")
        };
        assert!(done(Kind::Charge, order("c", None)).1);
        assert!(!done(Kind::Charge, order("c", None)).1);
        assert_eq!(done(Kind::Refund, order("r", Some("c"))).0.state, State::Succeeded);
        assert!(!done(Kind::Refund, order("r", Some("c"))).1);
        let twice = done(Kind::Refund, order("r2", Some("c"))).0;
        assert_eq!(twice.failure_code, Some("already_refunded"));
        assert_eq!(ledger.all().1, 1);
    }

    #[test]
    fn what_was_voided_is_never_done() {
        let mut ledger = Ledger::default();
        ledger.void("c", "id".to_owned()).expect("there is room");
        let late = ledger.order(Kind::Charge, order("c", None), "id".to_owned(), || Fate::Good);
        assert_eq!(late.expect("there is room").0.state, State::Voided);
    }
}
