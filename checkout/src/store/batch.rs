//! Orders for one sector, decided and written together: one transaction of three statements.
//!
//! It reads what it needs, decides, and writes under the conditions it has decided by. When one of
//! them holds no more, because another instance was faster, everything is rolled back and read again.

use std::collections::HashMap;
use std::sync::Arc;

use shared::ids::{EventId, SectorId};
use sqlx::PgConnection;
use time::OffsetDateTime;

use super::StoreError;
use super::columns::{Answers, Holds};
use super::transaction::Work;
use crate::answer::{Answer, Outcome};
use crate::clock::measured;
use crate::sale::Refusal;
use crate::sale::decide::{Ask, Decision, Stock, decide};
use crate::sale::fingerprint::Fingerprint;
use crate::sale::hold::State;
use crate::sale::order::Order;
use crate::sale::receipt::{Item, Receipts, Reservation};

/// Orders for places in one sector, oldest first.
pub struct Batch {
    /// The event.
    pub event: EventId,
    /// The sector.
    pub sector: SectorId,
    /// The orders.
    pub orders: Vec<Arc<Order>>,
    /// Writes the answers.
    pub receipts: Receipts,
}

/// What became of a batch.
pub struct Decided {
    /// An outcome for each order, or a refusal that is not recorded.
    pub outcomes: Vec<Result<Outcome, Refusal>>,
    /// Reservations that were made.
    pub created: usize,
    /// Whether an order was refused for want of places.
    pub sold_out: bool,
    /// Places left.
    pub available: i32,
}

/// What holds for all orders of a transaction. The time is Postgres'.
#[derive(sqlx::FromRow)]
struct Terms {
    created_at: OffsetDateTime,
    expires_at: OffsetDateTime,
    max_per_user: i32,
    currency: String,
    price: i64,
    available: i32,
    /// What each order's person holds and owns.
    totals: Vec<i32>,
    /// The places, from 1, of orders whose keys are decided already.
    recorded: Vec<i64>,
}

/// What was answered to an order's key before.
#[derive(sqlx::FromRow)]
struct Recorded {
    /// The order's place in the batch, from 1.
    place: i64,
    fingerprint: Vec<u8>,
    status: i16,
    body: String,
}

impl Work for Batch {
    type Output = Decided;

    async fn run(&self, connection: &mut PgConnection) -> Result<Decided, StoreError> {
        let terms = self.terms(connection).await?;
        let mut recorded = if terms.recorded.is_empty() {
            HashMap::new()
        } else {
            self.recorded(connection).await?
        };
        let subs = self.orders.iter().map(|order| order.sub.as_str());
        let totals = subs.zip(terms.totals.iter().copied()).collect();
        let mut stock =
            Stock { available: terms.available, max_per_user: terms.max_per_user, totals };
        let decisions = decide(&self.asks(&recorded)?, &mut stock);

        let mut outcomes: Vec<Result<Outcome, Refusal>> = Vec::with_capacity(self.orders.len());
        let (mut holds, mut answers) = (Holds::default(), Answers::default());
        for (place, (order, decision)) in self.orders.iter().zip(&decisions).enumerate() {
            outcomes.push(match decision {
                Decision::Create => {
                    holds.push(order);
                    Ok(Outcome::First(self.created(order, &terms)))
                }
                Decision::Refuse(refusal) if refusal.is_decision() => {
                    Ok(Outcome::First(Answer::refused(*refusal)))
                }
                Decision::Refuse(refusal) => Err(*refusal),
                Decision::Repeat => Ok(repeat(&mut recorded, place)?),
                Decision::SameAs(first) => outcomes[*first].clone().map(Outcome::again),
            });
        }
        for (order, (outcome, decision)) in self.orders.iter().zip(outcomes.iter().zip(&decisions))
        {
            if let (Ok(Outcome::First(answer)), Decision::Create | Decision::Refuse(_)) =
                (outcome, decision)
            {
                answers.push(order, answer, *decision != Decision::Create);
            }
        }
        let available = self.write(connection, &terms, &holds, &answers).await?;
        let sold_out = decisions.contains(&Decision::Refuse(Refusal::SoldOut));
        let available = available.unwrap_or(terms.available);
        Ok(Decided { outcomes, created: holds.len(), sold_out, available })
    }
}

impl Batch {
    async fn terms(&self, connection: &mut PgConnection) -> Result<Terms, StoreError> {
        let (subs, keys) = self.names();
        let terms = sqlx::query_as(include_str!("sql/batch_terms.sql"))
            .bind(self.event.as_str())
            .bind(self.sector.0)
            .bind(subs)
            .bind(keys)
            .fetch_optional(connection)
            .await?;
        terms.ok_or(StoreError::Refused(Refusal::NotFound))
    }

    async fn recorded(
        &self,
        connection: &mut PgConnection,
    ) -> Result<HashMap<usize, Recorded>, StoreError> {
        let (subs, keys) = self.names();
        let rows: Vec<Recorded> = sqlx::query_as(include_str!("sql/batch_recorded.sql"))
            .bind(self.event.as_str())
            .bind(subs)
            .bind(keys)
            .fetch_all(connection)
            .await?;
        let place = |row: &Recorded| usize::try_from(row.place - 1).unwrap_or(usize::MAX);
        Ok(rows.into_iter().map(|row| (place(&row), row)).collect())
    }

    /// The orders' subs and keys.
    fn names(&self) -> (Vec<&str>, Vec<&str>) {
        self.orders.iter().map(|order| (order.sub.as_str(), order.key.as_str())).unzip()
    }

    fn asks(&self, recorded: &HashMap<usize, Recorded>) -> Result<Vec<Ask<'_>>, StoreError> {
        let ask = |(place, order): (usize, &'_ Arc<Order>)| {
            let recorded = match recorded.get(&place) {
                Some(row) => Some(Fingerprint::recorded(&row.fingerprint).ok_or_else(broken)?),
                None => None,
            };
            Ok((place, recorded, order.basket.total()))
        };
        let asks: Vec<_> =
            self.orders.iter().enumerate().map(ask).collect::<Result<_, StoreError>>()?;
        Ok(asks
            .into_iter()
            .map(|(place, recorded, quantity)| Ask {
                sub: self.orders[place].sub.as_str(),
                key: self.orders[place].key.as_str(),
                fingerprint: self.orders[place].fingerprint,
                quantity,
                recorded,
            })
            .collect())
    }

    fn created(&self, order: &Order, terms: &Terms) -> Answer {
        let quantity = order.basket.total();
        let reservation = Reservation {
            id: order.id,
            event: order.event.clone(),
            sub: order.sub.clone(),
            state: State::Held,
            items: vec![Item { sector_id: self.sector, quantity, price: terms.price }],
            total: i64::from(quantity) * terms.price,
            currency: terms.currency.clone(),
            expires_at: terms.expires_at,
            created_at: terms.created_at,
        };
        Answer::created(order.id, self.receipts.body(&reservation))
    }

    /// Writes in the order in which everybody locks. The places left, if some were taken.
    async fn write(
        &self,
        connection: &mut PgConnection,
        terms: &Terms,
        holds: &Holds<'_>,
        answers: &Answers<'_>,
    ) -> Result<Option<i32>, StoreError> {
        if holds.is_empty() {
            if !answers.is_empty() {
                answers.record(connection, &self.event).await?;
            }
            return Ok(None);
        }
        self.write_rows(connection, terms, holds, answers).await?;
        // Last, because whoever else wants a place waits from here to the end of the commit.
        let take = sqlx::query_scalar(include_str!("sql/take_stock.sql"))
            .bind(self.event.as_str())
            .bind(self.sector.0)
            .bind(holds.quantities.iter().sum::<i32>())
            .fetch_optional(connection);
        let left: Option<i32> = measured("checkout_stock_lock_duration_seconds", take).await?;
        left.map(Some).ok_or_else(|| stale("stock"))
    }

    async fn write_rows(
        &self,
        connection: &mut PgConnection,
        terms: &Terms,
        holds: &Holds<'_>,
        answers: &Answers<'_>,
    ) -> Result<(), StoreError> {
        let (people, quantities) = holds.by_person();
        let written: (i64, i64) = sqlx::query_as(include_str!("sql/batch_write.sql"))
            .bind(self.event.as_str())
            .bind(&people)
            .bind(quantities)
            .bind(terms.max_per_user)
            .bind(&answers.subs)
            .bind(&answers.keys)
            .bind(&answers.fingerprints)
            .bind(&answers.statuses)
            .bind(&answers.bodies)
            .bind(&answers.refused)
            .bind(&holds.ids)
            .bind(&holds.subs)
            .bind(&holds.quantities)
            .bind(&holds.admissions)
            .bind(&holds.numbers)
            .bind(terms.price)
            .bind(&terms.currency)
            .bind(terms.created_at)
            .bind(terms.expires_at)
            .bind(self.sector.0)
            .fetch_one(connection)
            .await?;
        if usize::try_from(written.0) != Ok(people.len()) {
            return Err(stale("user_total"));
        }
        if usize::try_from(written.1) != Ok(answers.keys.len()) {
            return Err(stale("key"));
        }
        Ok(())
    }
}

fn repeat(recorded: &mut HashMap<usize, Recorded>, place: usize) -> Result<Outcome, StoreError> {
    let row = recorded.remove(&place).ok_or_else(broken)?;
    Answer::recorded(row.status, row.body).map(Outcome::Replayed).ok_or_else(broken)
}

/// What was decided by is not so any more.
pub(super) fn stale(what: &'static str) -> StoreError {
    metrics::counter!("checkout_conflicts_total", "what" => what).increment(1);
    StoreError::Conflict
}

fn broken() -> StoreError {
    StoreError::Unexpected(sqlx::Error::Decode("a record that is none of ours".into()))
}
