//! Looks after operations that are not done, in every instance: those that were never sent are sent, and
//! for those whose outcome is not known the provider is asked.

use futures::stream::{StreamExt, iter};
use shared::ids::EventId;
use tokio_util::sync::CancellationToken;

use super::desk::Desk;
use super::operation::{Hold, Kind, Said, Todo, due};
use super::provider::{Found, Provider, Report};
use crate::store::StoreError;
use crate::store::payments::watch::{self, Taken};
use crate::tasks::Owned;

/// Operations of an event looked after at once.
const AT_ONCE: usize = 32;

impl Desk {
    /// Looks after them until shutdown.
    pub async fn reconcile(&self, owned: Owned, shutdown: CancellationToken) {
        while !shutdown.is_cancelled() {
            if let Err(error) = self.look(&owned, &shutdown).await {
                tracing::warn!(error = %error, "payments not looked after, to be tried again");
            }
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = self.due.notified() => {}
                () = tokio::time::sleep(self.check_interval) => {}
            }
        }
    }

    async fn look(&self, owned: &Owned, shutdown: &CancellationToken) -> Result<(), StoreError> {
        let events = async { watch::due_events(&mut *self.store.connection().await?).await };
        let mut events = self.store.bounded(events).await?;
        // A batch each in turn, so that a large event does not hold up a small one.
        while !events.is_empty() && !shutdown.is_cancelled() {
            let mut unfinished = Vec::new();
            for event in events {
                let taken = self.claim(&event).await?;
                let is_full = taken.len() == AT_ONCE;
                let all =
                    iter(&taken).for_each_concurrent(AT_ONCE, |taken| self.see_to(owned, taken));
                all.await;
                if is_full {
                    unfinished.push(event);
                }
            }
            events = unfinished;
        }
        self.measure().await
    }

    async fn claim(&self, event: &EventId) -> Result<Vec<Taken>, StoreError> {
        let limit = i64::try_from(AT_ONCE).unwrap_or(i64::MAX);
        let claim = async {
            let mut connection = self.store.connection().await?;
            watch::claim(&mut connection, event, limit, self.lease_seconds()).await
        };
        self.store.bounded(claim).await
    }

    async fn see_to(&self, owned: &Owned, taken: &Taken) {
        let operation = &taken.operation;
        match due(operation.kind, operation.state, taken.hold) {
            Todo::Submit => {
                if let Some(begun) = self.begin(&operation.event, operation.id).await {
                    self.send(owned, &begun).await;
                }
            }
            Todo::LookUp => self.look_up(owned, taken).await,
            Todo::GiveUp | Todo::NextRound => {
                let write = async {
                    let mut connection = self.store.connection().await?;
                    if operation.kind == Kind::Charge {
                        watch::give_up(&mut connection, operation).await.map(drop)
                    } else {
                        watch::next_round(&mut connection, operation).await
                    }
                };
                match self.store.bounded(write).await {
                    Ok(()) => self.due.notify_one(),
                    Err(error) => tracing::warn!(error = %error, "a payment was not looked after"),
                }
            }
            Todo::Nothing => {}
        }
    }

    async fn look_up(&self, owned: &Owned, taken: &Taken) {
        let (operation, order) = (&taken.operation, taken.order());
        let Some(provider) = self.provider(&operation.provider) else {
            tracing::error!(
                provider = operation.provider,
                "a payment's provider is not configured"
            );
            return;
        };
        let provider = provider.as_ref();
        let found = self.call(provider, "look_up", provider.look_up(&order)).await;
        let unwanted = operation.kind == Kind::Charge && taken.hold != Hold::Live;
        let report = match found {
            Ok(Found::NotThere) if unwanted => self.withdraw(provider, taken).await,
            // Nothing was done under its key: the same again cannot do it twice.
            Ok(Found::NotThere) => return self.send(owned, taken).await,
            Ok(Found::There(report)) if unwanted && can_be_withdrawn(&report, taken.hold) => {
                self.withdraw(provider, taken).await
            }
            Ok(Found::There(report)) => report,
            Err(_) => Report::plain(Said::Nothing),
        };
        self.heard(owned, operation, report, true).await;
    }

    async fn withdraw(&self, provider: &dyn Provider, taken: &Taken) -> Report {
        let order = taken.order();
        let withdrawn = self.call(provider, "withdraw", provider.withdraw(&order)).await;
        withdrawn.unwrap_or_else(|_| Report::plain(Said::Nothing))
    }

    async fn measure(&self) -> Result<(), StoreError> {
        let unsettled = async { watch::unsettled(&mut *self.store.connection().await?).await };
        let unsettled = self.store.bounded(unsettled).await?;
        for (kind, state) in [
            ("charge", "created"),
            ("charge", "submitted"),
            ("charge", "unknown"),
            ("refund", "created"),
            ("refund", "submitted"),
            ("refund", "unknown"),
            ("refund", "failed"),
        ] {
            let found = unsettled.iter().find(|row| row.0 == kind && row.1 == state);
            let (count, age) = found.map_or((0, 0.0), |row| (row.2, row.3));
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            metrics::gauge!("checkout_payments_unsettled", "kind" => kind, "state" => state)
                .set(f64::from(count));
            metrics::gauge!(
                "checkout_payments_unsettled_age_seconds", "kind" => kind, "state" => state
            )
            .set(age);
        }
        Ok(())
    }
}

/// Whether it makes sense to stop what is under way: nobody wants it, or it waits for a customer whose
/// hold has ended. What the provider is at by itself, and comes late, may still buy other places.
fn can_be_withdrawn(report: &Report, hold: Hold) -> bool {
    report.said == Said::Pending && (hold == Hold::LetGo || report.customer_action.is_some())
}
