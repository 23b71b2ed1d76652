//! An instance's turns at a sector: for how long it keeps the lease, and when it does without.

use std::sync::Arc;
use std::time::{Duration, Instant};

use shared::ids::{EventId, SectorId};
use tokio::sync::Mutex;

use super::lease::{Lease, Leases, Renewal};

/// After so many batches the lease goes to another instance that waits for it.
const BATCHES_MAX: u32 = 10;
/// A lease is prolonged when it is this old. Well below [`WAIT_MAX`], so that who waits can tell a
/// busy holder from a dead one.
const RENEW_AFTER: Duration = Duration::from_millis(100);
/// How long a batch waits for the lease before it is written without.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// The lease of one sector, as this instance has it.
pub struct Turn {
    leases: Arc<Leases>,
    event: EventId,
    sector: SectorId,
    held: Mutex<Held>,
}

#[derive(Debug, Clone, Copy)]
enum Held {
    /// Not ours.
    No,
    /// Ours.
    Yes { renewed_at: Instant, batches: u32 },
    /// There is no point in asking for it before.
    Without { until: Instant },
}

impl Turn {
    /// No lease yet.
    pub fn new(leases: Arc<Leases>, event: EventId, sector: SectorId) -> Self {
        Self { leases, event, sector, held: Mutex::new(Held::No) }
    }

    /// Before a batch: has the lease, or has found out that it is to be written without.
    pub async fn begin_batch(&self) {
        let mut held = self.held.lock().await;
        let now = Instant::now();
        match *held {
            Held::Without { until } if now < until => return,
            Held::Yes { renewed_at, batches } => {
                let is_over = batches >= BATCHES_MAX;
                if !is_over && now.duration_since(renewed_at) < RENEW_AFTER {
                    *held = Held::Yes { renewed_at, batches: batches + 1 };
                    return;
                }
                if self.leases.renew(&self.event, self.sector, is_over).await == Renewal::Kept {
                    let batches = if is_over { 1 } else { batches + 1 };
                    *held = Held::Yes { renewed_at: now, batches };
                    return;
                }
            }
            Held::No | Held::Without { .. } => {}
        }
        let deadline = Instant::now() + WAIT_MAX;
        *held = match self.leases.acquire(&self.event, self.sector, deadline).await {
            Lease::Acquired => Held::Yes { renewed_at: Instant::now(), batches: 1 },
            Lease::Without { pause: Some(pause) } => {
                Held::Without { until: Instant::now() + pause }
            }
            Lease::Without { pause: None } => Held::No,
        };
    }

    /// There is nothing more to write: gives the lease back, if it is ours.
    pub async fn end(&self) {
        let mut held = self.held.lock().await;
        if let Held::Yes { .. } = *held {
            *held = Held::No;
            self.leases.release(&self.event, self.sector).await;
        }
    }
}
