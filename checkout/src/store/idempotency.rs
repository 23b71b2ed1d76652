//! One key, one outcome.

use sqlx::PgConnection;

use shared::ids::{EventId, ReservationId, Subject};

use super::transaction::{self, Work};
use super::{Store, StoreError};
use crate::answer::{Answer, Outcome};
use crate::sale::Refusal;
use crate::sale::fingerprint::Fingerprint;
use crate::sale::key::IdempotencyKey;
use crate::tasks::Owned;

/// How often a key is looked up before it is given up as too busy. The second look finds the
/// outcome of whoever came first, unless that was purged in between.
const LOOKS_MAX: u32 = 3;

/// A request with its key. The key is known per event and person.
#[derive(Debug, Clone)]
pub struct Keyed {
    /// The event.
    pub event: EventId,
    /// The person, or none for the service that confirms.
    pub sub: Option<Subject>,
    /// The key.
    pub key: IdempotencyKey,
    /// What is asked for.
    pub fingerprint: Fingerprint,
}

#[derive(sqlx::FromRow)]
struct Row {
    fingerprint: Vec<u8>,
    status: i16,
    body: String,
}

impl Keyed {
    fn sub(&self) -> &str {
        self.sub.as_ref().map_or("", Subject::as_str)
    }

    /// What was answered to this key, if it is decided.
    pub async fn find(&self, connection: &mut PgConnection) -> Result<Option<Outcome>, StoreError> {
        let row: Option<Row> = sqlx::query_as(include_str!("sql/find_answer.sql"))
            .bind(self.event.as_str())
            .bind(self.sub())
            .bind(self.key.as_str())
            .fetch_optional(connection)
            .await?;
        let Some(row) = row else { return Ok(None) };
        if row.fingerprint != self.fingerprint.as_bytes() {
            return Err(StoreError::Refused(Refusal::KeyReused));
        }
        let answer = Answer::recorded(row.status, row.body).ok_or_else(|| {
            StoreError::Unexpected(sqlx::Error::Decode("the recorded status is none".into()))
        })?;
        Ok(Some(Outcome::Replayed(answer)))
    }

    /// Records the answer to this key. Waits for a transaction that is about to do so too;
    /// [`StoreError::KeyTaken`] when that one did.
    pub async fn record(
        &self,
        connection: &mut PgConnection,
        answer: &Answer,
    ) -> Result<(), StoreError> {
        let recorded = sqlx::query(include_str!("sql/record_answer.sql"))
            .bind(self.event.as_str())
            .bind(self.sub())
            .bind(self.key.as_str())
            .bind(self.fingerprint.as_bytes())
            .bind(answer.status())
            .bind(answer.body())
            .execute(connection)
            .await?;
        if recorded.rows_affected() == 1 { Ok(()) } else { Err(StoreError::KeyTaken) }
    }
}

/// Does `work` once for its key and gives every request with the key that outcome.
///
/// Looking first is a fast path; the primary key decides. `work` records its answer in its own
/// transaction. A refusal has rolled everything back, and is recorded alone: should another request
/// with the key have had better luck meanwhile, that one's outcome counts for both.
pub async fn once<W: Work<Output = Answer>>(
    owned: &Owned,
    store: &Store,
    keyed: &Keyed,
    work: &W,
) -> Result<Outcome, StoreError> {
    for _ in 0..LOOKS_MAX {
        let find = async { keyed.find(&mut *store.connection().await?).await };
        if let Some(outcome) = store.bounded(find).await? {
            return Ok(outcome);
        }
        let refusal = match transaction::run(owned, store, work).await {
            Ok(answer) => return Ok(Outcome::First(answer)),
            Err(StoreError::KeyTaken) => continue,
            Err(StoreError::Refused(refusal)) if refusal.is_decision() => refusal,
            Err(error) => return Err(error),
        };
        let answer = Answer::refused(refusal);
        let record = async { keyed.record(&mut *store.connection().await?, &answer).await };
        match store.bounded(record).await {
            Ok(()) => return Ok(Outcome::First(answer)),
            Err(StoreError::KeyTaken) => {}
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::KeyTaken)
}

/// Why an order is no reservation, by the id that it would have had.
pub async fn refusal(
    connection: &mut PgConnection,
    event: &EventId,
    id: ReservationId,
    sub: &Subject,
) -> Result<Option<Answer>, StoreError> {
    let row: Option<(i16, String)> = sqlx::query_as(include_str!("sql/find_refusal.sql"))
        .bind(event.as_str())
        .bind(id.0)
        .bind(sub.as_str())
        .fetch_optional(connection)
        .await?;
    Ok(row.and_then(|(status, body)| Answer::recorded(status, body)))
}

/// Forgets answers of an event that were given longer than the retention ago, about `limit`.
/// Returns how many.
pub async fn purge(
    connection: &mut PgConnection,
    event: &EventId,
    retention_seconds: u32,
    limit: u32,
) -> Result<u64, StoreError> {
    let purged = sqlx::query(include_str!("sql/purge_answers.sql"))
        .bind(event.as_str())
        .bind(f64::from(retention_seconds))
        .bind(i64::from(limit))
        .execute(connection)
        .await?;
    Ok(purged.rows_affected())
}
