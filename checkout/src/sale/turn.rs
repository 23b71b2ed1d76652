//! Turns at a sector: one write at a time, in order of arrival, first inside this instance and
//! then, by the lease, between instances.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use shared::ids::{EventId, SectorId};
use tokio::sync::OwnedMutexGuard;

use super::basket::Basket;
use super::lease::{Lease, Leases};

/// How long a turn waits for its leases, all together.
const LEASE_WAIT_MAX: Duration = Duration::from_millis(100);

/// Until when this instance does not ask for the sector's lease. Whoever has locked it has the
/// instance's turn at the sector.
type Line = Arc<tokio::sync::Mutex<Option<Instant>>>;

/// The lines of this instance's requests, one for each sector.
pub struct Turns {
    leases: Option<Arc<Leases>>,
    // Grows with the sectors that exist, since only those are asked for.
    lines: Mutex<HashMap<(EventId, SectorId), Line>>,
    wait_max: Duration,
}

/// A turn at one or more sectors. Dropped without [`Turn::end`], its leases run out by themselves.
pub struct Turn {
    event: EventId,
    _lines: Vec<OwnedMutexGuard<Option<Instant>>>,
    leased: Option<(Arc<Leases>, Vec<SectorId>)>,
}

impl Turns {
    /// `leases`: none to leave other instances to meet at the row in Postgres. `wait_max`: how long
    /// a request stays in line.
    pub fn new(leases: Option<Leases>, wait_max: Duration) -> Self {
        Self { leases: leases.map(Arc::new), lines: Mutex::default(), wait_max }
    }

    /// Waits for a turn at all sectors of a basket, ascending, so that two baskets never wait for
    /// one another. None when it did not come in time.
    pub async fn take(&self, event: &EventId, basket: &Basket) -> Option<Turn> {
        let lines = tokio::time::timeout(self.wait_max, self.stand_in_line(event, basket));
        let mut lines = lines.await.ok()?;
        let leased = match &self.leases {
            Some(leases) => Some((leases.clone(), lease(leases, event, basket, &mut lines).await)),
            None => None,
        };
        Some(Turn { event: event.clone(), _lines: lines, leased })
    }

    async fn stand_in_line(
        &self,
        event: &EventId,
        basket: &Basket,
    ) -> Vec<OwnedMutexGuard<Option<Instant>>> {
        let mut turns = Vec::with_capacity(basket.lines().len());
        for sector in basket.sectors() {
            // The mutex is fair: first come, first served.
            turns.push(self.line(event, sector).lock_owned().await);
        }
        turns
    }

    fn line(&self, event: &EventId, sector: SectorId) -> Line {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.entry((event.clone(), sector)).or_default().clone()
    }
}

impl Turn {
    /// Gives the leases back and lets the next one in.
    pub async fn end(self) {
        if let Some((leases, sectors)) = &self.leased {
            for sector in sectors {
                leases.release(&self.event, *sector).await;
            }
        }
    }
}

/// Leases as many of the sectors as can be had in time; the rest are written to without.
async fn lease(
    leases: &Leases,
    event: &EventId,
    basket: &Basket,
    lines: &mut [OwnedMutexGuard<Option<Instant>>],
) -> Vec<SectorId> {
    let deadline = Instant::now() + LEASE_WAIT_MAX;
    let mut leased = Vec::new();
    for (sector, without_until) in basket.sectors().zip(lines) {
        if without_until.is_some_and(|until| Instant::now() < until) {
            continue;
        }
        match leases.acquire(event, sector, deadline).await {
            Lease::Acquired => leased.push(sector),
            Lease::Without { pause } => {
                **without_until = pause.map(|pause| Instant::now() + pause);
            }
        }
    }
    leased
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn basket(sectors: &[u128]) -> Basket {
        let lines: Vec<_> = sectors.iter().map(|&id| (SectorId(Uuid::from_u128(id)), 1)).collect();
        Basket::new(&lines).expect("within the bounds")
    }

    #[tokio::test]
    async fn one_turn_at_a_sector_at_a_time_and_other_sectors_do_not_wait() {
        let turns = Turns::new(None, Duration::from_millis(20));
        let event: EventId = "demo".parse().expect("a slug");
        let first = turns.take(&event, &basket(&[1, 2])).await.expect("nobody is before it");
        assert!(turns.take(&event, &basket(&[2])).await.is_none(), "taken");
        assert!(turns.take(&event, &basket(&[3])).await.is_some(), "free");
        first.end().await;
        assert!(turns.take(&event, &basket(&[2, 1])).await.is_some(), "let go");
    }
}
