//! Stripe's objects, as far as they are read here. What is not known to them is left out.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use shared::ids::EventId;
use uuid::Uuid;

use crate::payment::operation::Said;
use crate::payment::provider::Report;

/// A PaymentIntent.
#[derive(Debug, Deserialize)]
pub(super) struct Intent {
    pub(super) id: String,
    status: String,
    #[serde(default)]
    amount_received: i64,
    client_secret: Option<String>,
    last_payment_error: Option<Failure>,
    cancellation_reason: Option<String>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

/// A Refund.
#[derive(Debug, Deserialize)]
pub(super) struct Refund {
    id: String,
    status: Option<String>,
    amount: i64,
    failure_reason: Option<String>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

/// A page of a list.
#[derive(Debug, Deserialize)]
pub(super) struct List<T> {
    pub(super) data: Vec<T>,
}

/// What we have written to an object when it was made.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Metadata {
    stanchion_event: Option<String>,
    stanchion_payment: Option<String>,
    stanchion_key: Option<String>,
}

/// The body of a refusal.
#[derive(Debug, Deserialize)]
pub(super) struct Failed {
    pub(super) error: Failure,
}

/// Why something is refused.
#[derive(Debug, Deserialize)]
pub(super) struct Failure {
    code: Option<String>,
    decline_code: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// A webhook's body.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) id: String,
    data: Data,
}

#[derive(Debug, Deserialize)]
struct Data {
    object: Value,
}

/// What a webhook is about.
pub(super) enum Object {
    Intent(Intent),
    Refund(Refund),
    Other,
}

impl Intent {
    /// Whether a payment was ever tried with it.
    pub(super) fn was_confirmed(&self) -> bool {
        let waiting =
            matches!(self.status.as_str(), "requires_payment_method" | "requires_confirmation");
        !waiting || self.last_payment_error.is_some()
    }

    pub(super) fn report(&self) -> Report {
        let said = match self.status.as_str() {
            "succeeded" => Said::Succeeded,
            "canceled" => Said::Failed,
            "processing" | "requires_action" | "requires_capture" => Said::Pending,
            _ if self.was_confirmed() => Said::Failed,
            _ => Said::Nothing,
        };
        let failure = self.last_payment_error.as_ref().map(Failure::name);
        let canceled = self.cancellation_reason.clone().or_else(|| Some("canceled".to_owned()));
        let needs_customer = self.status == "requires_action";
        Report {
            said,
            key: self.metadata.stanchion_key.clone(),
            reference: Some(self.id.clone()),
            failure_code: if said == Said::Failed { failure.or(canceled) } else { None },
            customer_action: self.client_secret.clone().filter(|_| needs_customer),
            amount: (said == Said::Succeeded).then_some(self.amount_received),
        }
    }
}

impl Refund {
    pub(super) fn is_of_key(&self, key: &str) -> bool {
        self.metadata.stanchion_key.as_deref() == Some(key)
    }

    pub(super) fn report(&self) -> Report {
        let said = match self.status.as_deref() {
            Some("succeeded") => Said::Succeeded,
            Some("failed" | "canceled") => Said::Failed,
            Some("pending" | "requires_action") => Said::Pending,
            _ => Said::Nothing,
        };
        Report {
            said,
            key: self.metadata.stanchion_key.clone(),
            reference: Some(self.id.clone()),
            failure_code: self.failure_reason.clone(),
            customer_action: None,
            amount: Some(self.amount),
        }
    }
}

impl Metadata {
    /// The event and the payment, if it is one of ours.
    pub(super) fn of_ours(&self) -> Option<(EventId, Uuid)> {
        let event = self.stanchion_event.as_ref()?.parse().ok()?;
        Some((event, self.stanchion_payment.as_ref()?.parse().ok()?))
    }
}

impl Failure {
    /// Whether the object was not in the state that the call is for.
    pub(super) fn is_unexpected_state(&self) -> bool {
        self.code.as_deref() == Some("payment_intent_unexpected_state")
    }

    pub(super) fn report(&self) -> Report {
        Report::failed(self.name())
    }

    fn name(&self) -> String {
        let names = [&self.decline_code, &self.code, &self.kind];
        names.into_iter().flatten().next().cloned().unwrap_or_else(|| "refused".to_owned())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Stripe refused: {}", self.name())
    }
}

impl Event {
    pub(super) fn object(&self) -> Object {
        let object = self.data.object.clone();
        let kind = object["object"].as_str().unwrap_or_default().to_owned();
        let read = match kind.as_str() {
            "payment_intent" => serde_json::from_value(object).map(Object::Intent),
            "refund" => serde_json::from_value(object).map(Object::Refund),
            _ => return Object::Other,
        };
        read.unwrap_or(Object::Other)
    }
}
