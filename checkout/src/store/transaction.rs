//! The only place that opens a transaction.

use std::time::Duration;

use sqlx::{Connection, PgConnection};

use super::{Store, StoreError};
use crate::clock::{measured, random_below};
use crate::tasks::Owned;

/// Attempts at a transaction that Postgres ended for the sake of another one.
const ATTEMPTS_MAX: u32 = 4;
/// Upper bound of the random pause before the next attempt, times the attempt's number.
const RETRY_PAUSE_MS_MAX: u64 = 20;

/// What one transaction does. It may be run again from its beginning.
pub trait Work: Send + Sync + 'static {
    /// What it found or decided.
    type Output: Send;

    /// Runs the statements. An error rolls all of them back.
    fn run(
        &self,
        connection: &mut PgConnection,
    ) -> impl Future<Output = Result<Self::Output, StoreError>> + Send;
}

/// Runs `work` in one transaction, again when Postgres had to break a deadlock or a conflict.
pub async fn run<W: Work>(_: &Owned, store: &Store, work: &W) -> Result<W::Output, StoreError> {
    let mut attempt = 1;
    loop {
        match attempt_once(store, work).await {
            Err(StoreError::Conflict) if attempt < ATTEMPTS_MAX => {
                let pause = u64::from(attempt) * random_below(RETRY_PAUSE_MS_MAX);
                tracing::debug!(attempt, pause_ms = pause, "transaction to be run again");
                tokio::time::sleep(Duration::from_millis(pause)).await;
                attempt += 1;
            }
            result => return result,
        }
    }
}

async fn attempt_once<W: Work>(store: &Store, work: &W) -> Result<W::Output, StoreError> {
    let _permit = store.writer().await?;
    let mut connection = store.connection().await?;
    let work = in_transaction(&mut connection, work);
    let work = tokio::time::timeout(store.transaction_timeout, work);
    let result = measured("checkout_transaction_duration_seconds", work).await;
    let result = result.unwrap_or_else(|_| {
        tracing::error!("Postgres did not answer within a transaction's time, giving it up");
        Err(StoreError::OutcomeUnknown)
    });
    if matches!(result, Err(StoreError::OutcomeUnknown)) {
        // Whatever state it is in, nobody shall borrow it.
        drop(connection.detach());
    }
    result
}

#[expect(
    clippy::disallowed_methods,
    reason = "this future is owned by a task, of which `run`'s callers have given the proof"
)]
async fn in_transaction<W: Work>(
    connection: &mut PgConnection,
    work: &W,
) -> Result<W::Output, StoreError> {
    let mut transaction = connection.begin().await?;
    match work.run(&mut transaction).await {
        Ok(output) => {
            let commit = measured("checkout_commit_duration_seconds", transaction.commit());
            commit.await.map_err(StoreError::at_commit)?;
            Ok(output)
        }
        Err(error) => {
            // When even this fails, the connection is lost, and the transaction with it.
            let _ = transaction.rollback().await;
            Err(error)
        }
    }
}
