//! Rows of a batch, column by column, as `unnest` takes them.

use std::collections::BTreeMap;

use shared::ids::EventId;
use sqlx::PgConnection;
use uuid::Uuid;

use super::StoreError;
use super::batch::stale;
use crate::answer::Answer;
use crate::sale::order::Order;

/// Holds to be written.
#[derive(Default)]
pub(super) struct Holds<'a> {
    pub(super) ids: Vec<Uuid>,
    pub(super) subs: Vec<&'a str>,
    pub(super) quantities: Vec<i32>,
    pub(super) admissions: Vec<Uuid>,
    pub(super) numbers: Vec<i64>,
}

/// Answers to be recorded.
#[derive(Default)]
pub(super) struct Answers<'a> {
    pub(super) subs: Vec<&'a str>,
    pub(super) keys: Vec<&'a str>,
    pub(super) fingerprints: Vec<&'a [u8]>,
    pub(super) statuses: Vec<i16>,
    pub(super) bodies: Vec<&'a str>,
    pub(super) refused: Vec<Option<Uuid>>,
}

impl<'a> Holds<'a> {
    pub(super) fn push(&mut self, order: &'a Order) {
        self.ids.push(order.id.0);
        self.subs.push(order.sub.as_str());
        self.quantities.push(order.basket.total());
        self.admissions.push(order.admission.jti);
        self.numbers.push(order.admission.number.cast_signed());
    }

    /// What each person takes in all.
    pub(super) fn by_person(&self) -> (Vec<&'a str>, Vec<i32>) {
        let mut by_sub = BTreeMap::new();
        for (sub, quantity) in self.subs.iter().zip(&self.quantities) {
            *by_sub.entry(*sub).or_insert(0) += quantity;
        }
        by_sub.into_iter().unzip()
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

impl<'a> Answers<'a> {
    pub(super) fn push(&mut self, order: &'a Order, answer: &'a Answer, is_refusal: bool) {
        self.subs.push(order.sub.as_str());
        self.keys.push(order.key.as_str());
        self.fingerprints.push(order.fingerprint.as_bytes());
        self.statuses.push(answer.status());
        self.bodies.push(answer.body());
        self.refused.push(is_refusal.then_some(order.id.0));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Records all of them, or none: another transaction may have decided one of the keys meanwhile.
    pub(super) async fn record(
        &self,
        connection: &mut PgConnection,
        event: &EventId,
    ) -> Result<(), StoreError> {
        let recorded = sqlx::query(include_str!("sql/batch_answers.sql"))
            .bind(event.as_str())
            .bind(&self.subs)
            .bind(&self.keys)
            .bind(&self.fingerprints)
            .bind(&self.statuses)
            .bind(&self.bodies)
            .bind(&self.refused)
            .execute(connection)
            .await?;
        if recorded.rows_affected() == self.keys.len() as u64 { Ok(()) } else { Err(stale("key")) }
    }
}
