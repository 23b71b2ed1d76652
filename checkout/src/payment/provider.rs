//! What a payment provider must be able to do.

use futures::future::BoxFuture;
use http::HeaderMap;
use shared::ids::{EventId, ReservationId};
use uuid::Uuid;

use super::operation::Said;

/// An operation, as a provider is told of it.
#[derive(Debug, Clone)]
pub struct Order {
    /// The event.
    pub event: EventId,
    /// The operation's own name.
    pub payment: Uuid,
    /// What it pays for.
    pub reservation: ReservationId,
    /// The provider must know the operation by this: the same key is the same operation.
    pub key: String,
    /// In the currency's minor unit.
    pub amount: i64,
    /// ISO 4217, in capitals.
    pub currency: String,
    /// What to charge, in the provider's words.
    pub method: Option<String>,
    /// The provider's name for it, when it is known.
    pub reference: Option<String>,
    /// Of a refund: the charge's key and the provider's name for it.
    pub charge: Option<(String, Option<String>)>,
}

/// What a provider says of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether the money has moved.
    pub said: Said,
    /// The key of the try that this is about; none when the provider does not repeat it.
    pub key: Option<String>,
    /// The provider's name for the operation.
    pub reference: Option<String>,
    /// Why it failed, in the provider's words.
    pub failure_code: Option<String>,
    /// What the customer must do before it can go on.
    pub customer_action: Option<String>,
    /// What has moved, in the minor unit; none when the provider does not say.
    pub amount: Option<i64>,
}

/// What a provider says before a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// It needs no preparation.
    Ready,
    /// This is its name for it, which is written down before the charge is made.
    Named(String),
    /// It will not be made.
    Refused(Report),
}

/// What a provider finds under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// This.
    There(Report),
    /// Nothing was done under it so far.
    NotThere,
}

/// A webhook that was really sent by the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It is about this operation.
    About {
        /// The provider's own name for the webhook, the same when it is sent again.
        id: String,
        /// The event.
        event: EventId,
        /// The operation.
        payment: Uuid,
        /// What it says.
        report: Report,
    },
    /// It is about something else.
    Other,
}

/// Why a webhook is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Forged {
    /// There is no signature, or none that can be read.
    #[error("there is no signature that can be read")]
    Unsigned,
    /// No known secret has made it.
    #[error("the signature is not right")]
    Signature,
    /// It is too old, or from the future.
    #[error("it was signed too long ago")]
    Stale,
    /// It is signed, and says nothing that can be understood.
    #[error("the body cannot be understood")]
    Body,
}

/// The provider gave no answer, or none that can be used: nothing is known by it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Trouble(pub String);

/// An answer, or why there is none.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, Trouble>>;

/// A payment provider. Every call is bounded in time by its caller.
pub trait Provider: Send + Sync {
    /// Its name in addresses, bodies and the database.
    fn name(&self) -> &'static str;

    /// Makes ready for a charge, without charging.
    fn prepare<'a>(&'a self, order: &'a Order) -> Answer<'a, Prepared>;

    /// Takes money. The same order again is the same charge.
    fn charge<'a>(&'a self, order: &'a Order) -> Answer<'a, Report>;

    /// Gives money back. The same order again is the same refund.
    fn refund<'a>(&'a self, order: &'a Order) -> Answer<'a, Report>;

    /// What has become of an order.
    fn look_up<'a>(&'a self, order: &'a Order) -> Answer<'a, Found>;

    /// Makes sure that a charge is never made, unless it was made already; says which.
    fn withdraw<'a>(&'a self, order: &'a Order) -> Answer<'a, Report>;

    /// Reads a webhook, at this time of the Unix epoch, in seconds.
    fn webhook(&self, headers: &HeaderMap, body: &[u8], now: u64) -> Result<Notice, Forged>;
}

impl Report {
    /// Only that word.
    pub fn plain(said: Said) -> Self {
        Self {
            said,
            key: None,
            reference: None,
            failure_code: None,
            customer_action: None,
            amount: None,
        }
    }

    /// It failed, for this reason.
    pub fn failed(code: impl Into<String>) -> Self {
        Self { failure_code: Some(code.into()), ..Self::plain(Said::Failed) }
    }
}
