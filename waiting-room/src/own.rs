//! What was decided on this node and is not in the store's last answer: what a lost store is given back.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::store::OwnToken;

/// Of one room. Everything here is bounded by what is sold, not by who waits.
#[derive(Debug, Default)]
pub struct Own {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    last_number: u64,
    tokens: BTreeMap<u64, OwnToken>,
    spent: Vec<u64>,
}

impl Own {
    /// A number was given out here.
    pub fn joined(&self, number: u64) {
        let mut own = self.lock();
        own.last_number = own.last_number.max(number);
    }

    /// A token was issued here.
    pub fn issued(&self, token: OwnToken) {
        let mut own = self.lock();
        own.spent.push(token.number);
        own.tokens.insert(token.number, token);
    }

    /// A place was given up here.
    pub fn left(&self, number: u64) {
        self.lock().spent.push(number);
    }

    /// The last number that was given out here; 0 = none.
    pub fn last_number(&self) -> u64 {
        self.lock().last_number
    }

    /// Tokens whose sessions may still run at a moment; the others are forgotten.
    pub fn tokens(&self, now_ms: u64) -> Vec<OwnToken> {
        let mut own = self.lock();
        own.tokens.retain(|_, token| token.lease_end_ms() > now_ms);
        own.tokens.values().cloned().collect()
    }

    /// The numbers that are spent.
    pub fn spent(&self) -> Vec<u64> {
        self.lock().spent.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
