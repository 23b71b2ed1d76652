//! Payments: reserve, commit, then pay.
//!
//! Pure: [`operation`] (the states), [`shown`] (what the customer is told). The providers: [`provider`]
//! (what one must be able to do), [`sandbox`], [`stripe`], [`signature`] (of their webhooks). At work:
//! [`desk`] (who is asked), [`submit`] (the call), [`settle`] (what its outcome leads to),
//! [`reconciler`] (asks for what is not known).
//!
//! Architecture invariant: a provider is never called in a transaction, under a lease or in a request's
//! future. The operation is committed before the call, its outcome is written after it, and whatever is
//! lost in between is found again by asking for the operation's key.

pub mod desk;
pub mod operation;
pub mod provider;
pub mod reconciler;
pub mod sandbox;
pub mod settle;
pub mod shown;
pub mod signature;
pub mod stripe;
pub mod submit;
