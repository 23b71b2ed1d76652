//! What the provider's word leads to, in one transaction with everything that follows from it: a captured
//! payment never stands alone.

use shared::ids::{EventId, ReservationId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::super::transaction::Work;
use super::super::transition::Transition;
use super::super::{StoreError, read};
use super::Operation;
use super::recovery::recover;
use crate::payment::operation::{Kind, Said, State, Step, Tries, Word, next_look, step};
use crate::payment::provider::Report;
use crate::sale::Refusal;
use crate::sale::hold::{self, Action};
use crate::sale::receipt::Receipts;

/// Something that was heard of an operation.
pub struct Settle {
    /// Its event.
    pub event: EventId,
    /// Its name.
    pub payment: Uuid,
    /// Who says so.
    pub provider: &'static str,
    /// What they say.
    pub report: Report,
    /// Whether they were asked.
    pub asked: bool,
    /// The provider's name for the webhook, if it came by one.
    pub webhook: Option<String>,
    /// What a refund, and a reservation that is bought late, are to be called: fixed beforehand, so that
    /// running this again makes the same.
    pub names: (Uuid, ReservationId),
    /// The first pause between two looks, in seconds.
    pub first_pause: f64,
    /// Writes bodies.
    pub receipts: Receipts,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The webhook was taken before.
    Twice,
    /// There is no such operation.
    Unknown,
    /// It changes nothing that counts: still under way, or settled before.
    Noted,
    /// The money was not taken.
    Failed,
    /// The reservation is paid for.
    Paid(ReservationId),
    /// Other places were taken for it.
    Recovered(ReservationId),
    /// It is to be given back, for this reason.
    Owed(&'static str),
    /// The money went back.
    Refunded,
    /// The provider has refused to give it back, and is asked again.
    RefundRefused,
}

impl Work for Settle {
    type Output = Settled;

    async fn run(&self, connection: &mut PgConnection) -> Result<Settled, StoreError> {
        if !self.take_webhook(connection).await? {
            return Ok(Settled::Twice);
        }
        let operation: Option<Operation> = sqlx::query_as(include_str!("../sql/payments/lock.sql"))
            .bind(self.event.as_str())
            .bind(self.payment)
            .bind(self.provider)
            .fetch_optional(&mut *connection)
            .await?;
        let Some(operation) = operation else { return Ok(Settled::Unknown) };
        match step(operation.kind, operation.state, self.word(&operation)) {
            Step::Stay => Ok(Settled::Noted),
            Step::Ask => {
                self.write(connection, &operation, State::Unknown, false, Some(0.0)).await?;
                Ok(Settled::Noted)
            }
            Step::Surplus => {
                self.write(connection, &operation, State::Succeeded, true, None).await?;
                self.owe(connection, &operation, "surplus").await
            }
            Step::To(state) => self.go_to(connection, &operation, state).await,
        }
    }
}

impl Settle {
    async fn take_webhook(&self, connection: &mut PgConnection) -> Result<bool, StoreError> {
        let Some(webhook) = &self.webhook else { return Ok(true) };
        let taken = sqlx::query(include_str!("../sql/payments/take_webhook.sql"))
            .bind(self.event.as_str())
            .bind(self.provider)
            .bind(webhook)
            .execute(connection)
            .await?;
        Ok(taken.rows_affected() == 1)
    }

    fn word(&self, operation: &Operation) -> Word {
        let this_round = self.report.key.as_ref().is_none_or(|key| *key == operation.key());
        Word { said: self.said(operation), this_round, asked: self.asked }
    }

    /// Another sum than the one that was ordered is no success: nobody knows what it is.
    fn said(&self, operation: &Operation) -> Said {
        let amount = self.report.amount.unwrap_or(operation.amount);
        if self.report.said == Said::Succeeded && amount != operation.amount {
            tracing::error!(event = %self.event, payment = %self.payment, amount,
                ordered = operation.amount, "the provider has moved another sum: look at it");
            metrics::counter!("checkout_payments_mismatched_total").increment(1);
            return Said::Nothing;
        }
        self.report.said
    }

    async fn go_to(
        &self,
        connection: &mut PgConnection,
        operation: &Operation,
        state: State,
    ) -> Result<Settled, StoreError> {
        let tries = Tries { round: operation.round, attempts: operation.attempts };
        let next = next_look(operation.kind, state, tries, self.first_pause);
        self.write(connection, operation, state, false, next).await?;
        match (operation.kind, state) {
            (Kind::Charge, State::Succeeded) => self.captured(connection, operation).await,
            (Kind::Charge, State::Failed) => Ok(Settled::Failed),
            (Kind::Refund, State::Succeeded) => Ok(Settled::Refunded),
            (Kind::Refund, State::Failed) => Ok(Settled::RefundRefused),
            (_, State::Created | State::Submitted | State::Unknown) => Ok(Settled::Noted),
        }
    }

    async fn write(
        &self,
        connection: &mut PgConnection,
        operation: &Operation,
        state: State,
        surplus: bool,
        next_look: Option<f64>,
    ) -> Result<(), StoreError> {
        let failure = self.report.failure_code.as_ref().filter(|_| state == State::Failed);
        let action = self.report.customer_action.as_ref().filter(|_| !state.is_settled());
        sqlx::query(include_str!("../sql/payments/settle.sql"))
            .bind(self.event.as_str())
            .bind(operation.id)
            .bind(state.as_str())
            .bind(&self.report.reference)
            .bind(failure)
            .bind(action)
            .bind(surplus)
            .bind(next_look)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// The money is there: the reservation is confirmed while it is held and in time; later, other
    /// places are taken if there are any; else it goes back.
    async fn captured(
        &self,
        connection: &mut PgConnection,
        operation: &Operation,
    ) -> Result<Settled, StoreError> {
        let id = operation.reservation();
        let confirm = Transition {
            event: self.event.clone(),
            id,
            owner: None,
            action: Action::Confirm,
            keyed: None,
            receipts: self.receipts.clone(),
        };
        match confirm.run(connection).await {
            Ok(_) => self.bought(connection, operation, id).await.map(|()| Settled::Paid(id)),
            Err(StoreError::Refused(Refusal::HoldExpired)) => {
                self.too_late(connection, operation).await
            }
            Err(error) => Err(error),
        }
    }

    async fn too_late(
        &self,
        connection: &mut PgConnection,
        operation: &Operation,
    ) -> Result<Settled, StoreError> {
        let paid = read::reservation(connection, &self.event, operation.reservation(), None)
            .await?
            .ok_or(StoreError::Unexpected(sqlx::Error::RowNotFound))?;
        if paid.state == hold::State::Cancelled {
            return self.owe(connection, operation, "cancelled").await;
        }
        match recover(connection, &paid, self.names.1).await? {
            Ok(()) => {
                self.bought(connection, operation, self.names.1).await?;
                Ok(Settled::Recovered(self.names.1))
            }
            Err(Refusal::PurchaseLimit) => self.owe(connection, operation, "purchase_limit").await,
            Err(_) => self.owe(connection, operation, "sold_out").await,
        }
    }

    async fn bought(
        &self,
        connection: &mut PgConnection,
        operation: &Operation,
        reservation: ReservationId,
    ) -> Result<(), StoreError> {
        sqlx::query(include_str!("../sql/payments/bought.sql"))
            .bind(self.event.as_str())
            .bind(operation.id)
            .bind(reservation.0)
            .execute(connection)
            .await?;
        Ok(())
    }

    async fn owe(
        &self,
        connection: &mut PgConnection,
        operation: &Operation,
        reason: &'static str,
    ) -> Result<Settled, StoreError> {
        sqlx::query(include_str!("../sql/payments/insert_refund.sql"))
            .bind(self.event.as_str())
            .bind(self.names.0)
            .bind(operation.id)
            .bind(reason)
            .execute(connection)
            .await?;
        Ok(Settled::Owed(reason))
    }
}
