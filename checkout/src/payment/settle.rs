//! Writing down what was heard of an operation, and what is to be told after the commit.

use shared::ids::{EventId, ReservationId};
use uuid::Uuid;

use super::desk::Desk;
use super::operation::Said;
use super::provider::{Notice, Provider, Report};
use crate::store::payments::Operation;
use crate::store::payments::settle::{Settle, Settled};
use crate::store::{StoreError, transaction};
use crate::tasks::Owned;

impl Desk {
    /// The provider has answered, or has not. What cannot be written down now is asked for later.
    pub(super) async fn heard(
        &self,
        owned: &Owned,
        operation: &Operation,
        report: Report,
        asked: bool,
    ) {
        let Some(provider) = self.provider(&operation.provider) else { return };
        let (event, payment) = (operation.event.clone(), operation.id);
        let work = self.work(provider.name(), event, payment, report, asked);
        if let Err(error) = self.settle(owned, &work).await {
            tracing::warn!(event = %work.event, payment = %payment, error = %error,
                "a payment's outcome was heard and not written down: it will be asked for");
        }
    }

    /// The provider has sent a webhook. An error: it is to be sent again.
    pub async fn told(
        &self,
        owned: &Owned,
        provider: &dyn Provider,
        notice: Notice,
    ) -> Result<(), StoreError> {
        let outcome = match notice {
            Notice::About { id, event, payment, report } if report.said != Said::Nothing => {
                let work = self.work(provider.name(), event, payment, report, false);
                let work = Settle { webhook: Some(id), ..work };
                match self.settle(owned, &work).await? {
                    Settled::Twice => "twice",
                    Settled::Unknown => "unknown",
                    _ => "taken",
                }
            }
            Notice::About { .. } | Notice::Other => "other",
        };
        count_webhook(provider.name(), outcome);
        Ok(())
    }

    fn work(
        &self,
        provider: &'static str,
        event: EventId,
        payment: Uuid,
        report: Report,
        asked: bool,
    ) -> Settle {
        Settle {
            event,
            payment,
            provider,
            report,
            asked,
            webhook: None,
            names: (Uuid::now_v7(), ReservationId::generate()),
            first_pause: self.check_interval.as_secs_f64(),
            receipts: self.receipts.clone(),
        }
    }

    async fn settle(&self, owned: &Owned, work: &Settle) -> Result<Settled, StoreError> {
        let settled = transaction::run(owned, &self.store, work).await?;
        let outcome = match settled {
            Settled::Paid(reservation) | Settled::Recovered(reservation) => {
                self.endings.decided(&work.event, reservation);
                if settled == Settled::Paid(reservation) { "paid" } else { "recovered" }
            }
            Settled::Owed(reason) => {
                metrics::counter!("checkout_payments_owed_total", "reason" => reason).increment(1);
                self.due.notify_one();
                "owed"
            }
            Settled::RefundRefused => {
                tracing::error!(event = %work.event, payment = %work.payment,
                    code = work.report.failure_code, "a refund was refused, to be tried again");
                "refund_refused"
            }
            Settled::Failed => "failed",
            Settled::Refunded => "refunded",
            Settled::Noted | Settled::Twice | Settled::Unknown => "noted",
        };
        tracing::info!(event = %work.event, payment = %work.payment, provider = work.provider,
            outcome, "payment");
        metrics::counter!(
            "checkout_payments_total", "provider" => work.provider, "outcome" => outcome
        )
        .increment(1);
        self.figures.of(&work.event).note_payment(outcome);
        Ok(settled)
    }
}

/// Counts a webhook.
pub fn count_webhook(provider: &'static str, outcome: &'static str) {
    metrics::counter!(
        "checkout_payment_webhooks_total", "provider" => provider, "outcome" => outcome
    )
    .increment(1);
}
