//! Sending an operation to its provider: after its commit, in a task of its own.

use shared::ids::EventId;
use uuid::Uuid;

use super::desk::Desk;
use super::operation::{Kind, Said};
use super::provider::{Order, Prepared, Provider, Report, Trouble};
use crate::store::payments::watch::{self, Taken};
use crate::tasks::Owned;

impl Desk {
    /// Sends a charge that was just written, if nobody else does. What cannot be sent now is sent by the
    /// reconciler.
    pub async fn submit(&self, owned: &Owned, event: &EventId, payment: Uuid) {
        let Ok(_place) = self.calls.try_acquire() else {
            self.due.notify_one();
            return;
        };
        if let Some(taken) = self.begin(event, payment).await {
            self.send(owned, &taken).await;
        }
    }

    /// Takes an operation that was never sent, to send it now.
    pub(super) async fn begin(&self, event: &EventId, payment: Uuid) -> Option<Taken> {
        let begin = async {
            let mut connection = self.store.connection().await?;
            watch::begin(&mut connection, event, payment, self.lease_seconds()).await
        };
        self.store.bounded(begin).await.unwrap_or_else(|error| {
            tracing::warn!(error = %error, "a payment is not sent yet");
            None
        })
    }

    /// Sends an operation that is ours at the moment, and writes down what comes of it.
    pub(super) async fn send(&self, owned: &Owned, taken: &Taken) {
        let (operation, order) = (&taken.operation, taken.order());
        let Some(provider) = self.provider(&operation.provider) else {
            tracing::error!(
                provider = operation.provider,
                "a payment's provider is not configured"
            );
            return;
        };
        let provider = provider.as_ref();
        let report = match operation.kind {
            // What costs nothing needs nobody.
            _ if operation.amount == 0 => Ok(Some(Report::plain(Said::Succeeded))),
            Kind::Charge => self.charge(provider, order).await,
            Kind::Refund => self.call(provider, "refund", provider.refund(&order)).await.map(Some),
        };
        match report {
            Ok(Some(report)) => self.heard(owned, operation, report, false).await,
            // Settled meanwhile.
            Ok(None) => {}
            // A timeout or a broken answer: it may have happened or not.
            Err(Trouble(_)) => {
                self.heard(owned, operation, Report::plain(Said::Nothing), false).await;
            }
        }
    }

    /// Charges, after the provider's name for it was written down. None: it must not be made any more.
    async fn charge(
        &self,
        provider: &dyn Provider,
        mut order: Order,
    ) -> Result<Option<Report>, Trouble> {
        if order.reference.is_none() {
            match self.call(provider, "prepare", provider.prepare(&order)).await? {
                Prepared::Ready => {}
                Prepared::Refused(report) => return Ok(Some(report)),
                Prepared::Named(name) if self.named(&order, &name).await? => {
                    order.reference = Some(name);
                }
                Prepared::Named(_) => return Ok(None),
            }
        }
        self.call(provider, "charge", provider.charge(&order)).await.map(Some)
    }

    /// Writes down what the provider calls a charge. False: it was settled meanwhile.
    async fn named(&self, order: &Order, name: &str) -> Result<bool, Trouble> {
        let write = async { watch::name(&mut *self.store.connection().await?, order, name).await };
        self.store.bounded(write).await.map_err(|error| Trouble(error.to_string()))
    }
}
