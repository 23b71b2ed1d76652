//! What somebody asks for, waiting to be decided.

use shared::ids::{EventId, ReservationId, SectorId, Subject};
use shared::signals::Session;

use super::basket::Basket;
use super::fingerprint::Fingerprint;
use super::key::IdempotencyKey;

/// An order for places.
#[derive(Debug, Clone)]
pub struct Order {
    /// What the reservation will be called if there is one: known before it is decided, so that
    /// whoever does not want to wait can be told where to look.
    pub id: ReservationId,
    /// The event.
    pub event: EventId,
    /// Who asks.
    pub sub: Subject,
    /// The admission with which they ask.
    pub admission: Session,
    /// The request's key.
    pub key: IdempotencyKey,
    /// What the key stands for.
    pub fingerprint: Fingerprint,
    /// What is asked for.
    pub basket: Basket,
}

impl Order {
    /// The sector, when it is for one alone.
    pub fn sector(&self) -> Option<SectorId> {
        match self.basket.lines() {
            [(sector, _)] => Some(*sector),
            _ => None,
        }
    }

    /// About how much a transaction sends for it, in bytes: twice the names, and an answer.
    pub fn bytes(&self) -> usize {
        const ANSWER_BYTES: usize = 800;
        ANSWER_BYTES + 3 * self.sub.as_str().len() + self.key.as_str().len()
    }
}
