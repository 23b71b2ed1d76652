//! Operators' changes to an event and its sectors.

use std::collections::HashSet;

use shared::ids::{EventId, SectorId};
use sqlx::PgConnection;

use super::StoreError;
use super::read::{self, Sector};
use super::transaction::Work;

/// Sectors that one event may have.
pub const SECTORS_MAX: usize = 1_000;

/// A change to an event. What is none stays as it is.
#[derive(Debug, Clone)]
pub struct EventChange {
    /// The event.
    pub event: EventId,
    /// Whether the event is made if it is not there; all settings are given then.
    pub create: bool,
    /// Its name, for people.
    pub name: Option<String>,
    /// Places that one person may hold and own together.
    pub max_per_user: Option<i32>,
    /// Places that one request may ask for.
    pub max_quantity_per_request: Option<i32>,
    /// How long a hold is kept, in seconds.
    pub hold_ttl_seconds: Option<i32>,
    /// ISO 4217.
    pub currency: Option<String>,
    /// How long a hold may last in all when it is extended, in seconds. None in a new event is twice
    /// `hold_ttl_seconds`.
    pub max_hold_seconds: Option<i32>,
    /// Sectors to make or change. Those not listed stay.
    pub sectors: Vec<SectorChange>,
}

/// A change to a sector, found by its id, or else by its name.
#[derive(Debug, Clone)]
pub struct SectorChange {
    /// Its name for programs.
    pub sector_id: Option<SectorId>,
    /// Its name for people.
    pub name: Option<String>,
    /// All places.
    pub capacity: Option<i32>,
    /// Of one place, in the currency's minor unit.
    pub price: Option<i64>,
}

/// Why a change cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// There is no such event.
    #[error("there is no such event")]
    UnknownEvent,
    /// More places are held and sold than would be there.
    #[error(
        "sector \"{sector}\" has more places held and sold than {capacity}; nothing was changed"
    )]
    CapacityTaken {
        /// The sector's name.
        sector: String,
        /// The capacity asked for.
        capacity: i32,
    },
    /// A new sector without a name or a capacity.
    #[error("a new sector needs a name and a capacity")]
    Incomplete,
    /// The same sector twice in one change.
    #[error("a sector is listed twice")]
    Twice,
    /// Another sector has that name.
    #[error("another sector of this event has that name")]
    NameTaken,
    /// More than [`SECTORS_MAX`].
    #[error("an event has at most 1000 sectors")]
    TooMany,
}

/// What is to be done to one sector.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    id: SectorId,
    name: String,
    price: i64,
    capacity: i32,
    is_new: bool,
    /// Whether the sector's own row changes; renaming locks out new holds for a moment.
    describes: bool,
    /// Whether the hot row changes.
    resizes: bool,
}

impl Work for EventChange {
    /// Whether the event is new.
    type Output = bool;

    async fn run(&self, connection: &mut PgConnection) -> Result<bool, StoreError> {
        let created = self.write_event(connection).await?;
        let existing = read::sectors(connection, &self.event).await?;
        let plans = plan(&existing, &self.sectors).map_err(StoreError::Rejected)?;
        for plan in &plans {
            self.write_sector(connection, plan).await?;
        }
        for plan in &plans {
            self.write_stock(connection, plan).await?;
        }
        Ok(created)
    }
}

impl EventChange {
    async fn write_event(&self, connection: &mut PgConnection) -> Result<bool, StoreError> {
        let sql = if self.create {
            include_str!("sql/put_event.sql")
        } else {
            include_str!("sql/patch_event.sql")
        };
        let created: Option<bool> = sqlx::query_scalar(sql)
            .bind(self.event.as_str())
            .bind(&self.name)
            .bind(self.max_per_user)
            .bind(self.max_quantity_per_request)
            .bind(self.hold_ttl_seconds)
            .bind(&self.currency)
            .bind(self.max_hold_seconds)
            .fetch_optional(connection)
            .await?;
        created.ok_or(StoreError::Rejected(Rejected::UnknownEvent))
    }

    async fn write_sector(
        &self,
        connection: &mut PgConnection,
        plan: &Plan,
    ) -> Result<(), StoreError> {
        let sql = if plan.is_new {
            include_str!("sql/insert_sector.sql")
        } else if plan.describes {
            include_str!("sql/update_sector.sql")
        } else {
            return Ok(());
        };
        let written = sqlx::query(sql)
            .bind(self.event.as_str())
            .bind(plan.id.0)
            .bind(&plan.name)
            .bind(plan.price)
            .execute(connection)
            .await
            .map_err(StoreError::from);
        match written {
            Err(error) if error.is_unique_violation() => {
                Err(StoreError::Rejected(Rejected::NameTaken))
            }
            written => written.map(drop),
        }
    }

    async fn write_stock(
        &self,
        connection: &mut PgConnection,
        plan: &Plan,
    ) -> Result<(), StoreError> {
        let sql = if plan.is_new {
            include_str!("sql/insert_stock.sql")
        } else if plan.resizes {
            include_str!("sql/resize_stock.sql")
        } else {
            return Ok(());
        };
        let written = sqlx::query(sql)
            .bind(self.event.as_str())
            .bind(plan.id.0)
            .bind(plan.capacity)
            .execute(connection)
            .await?;
        if written.rows_affected() == 1 {
            return Ok(());
        }
        let (sector, capacity) = (plan.name.clone(), plan.capacity);
        Err(StoreError::Rejected(Rejected::CapacityTaken { sector, capacity }))
    }
}

/// What the changes come to, ascending by sector. Nobody else changes the event's sectors
/// meanwhile: the event's row is locked.
fn plan(existing: &[Sector], changes: &[SectorChange]) -> Result<Vec<Plan>, Rejected> {
    let mut plans = Vec::with_capacity(changes.len());
    for change in changes {
        plans.push(match find(existing, change) {
            Some(sector) => Plan {
                id: SectorId(sector.sector_id),
                name: change.name.clone().unwrap_or_else(|| sector.name.clone()),
                price: change.price.unwrap_or(sector.price),
                capacity: change.capacity.unwrap_or(sector.capacity),
                is_new: false,
                describes: change.name.as_ref().is_some_and(|name| *name != sector.name)
                    || change.price.is_some_and(|price| price != sector.price),
                resizes: change.capacity.is_some_and(|capacity| capacity != sector.capacity),
            },
            None => Plan {
                id: change.sector_id.unwrap_or_else(SectorId::generate),
                name: change.name.clone().ok_or(Rejected::Incomplete)?,
                price: change.price.unwrap_or(0),
                capacity: change.capacity.ok_or(Rejected::Incomplete)?,
                is_new: true,
                describes: true,
                resizes: true,
            },
        });
    }
    let mut seen = HashSet::new();
    if !plans.iter().all(|plan| seen.insert(plan.id)) {
        return Err(Rejected::Twice);
    }
    if existing.len() + plans.iter().filter(|plan| plan.is_new).count() > SECTORS_MAX {
        return Err(Rejected::TooMany);
    }
    plans.sort_by_key(|plan| plan.id);
    Ok(plans)
}

fn find<'a>(existing: &'a [Sector], change: &SectorChange) -> Option<&'a Sector> {
    existing.iter().find(|sector| match change.sector_id {
        Some(id) => sector.sector_id == id.0,
        None => change.name.as_ref() == Some(&sector.name),
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn sector(id: u128, name: &str) -> Sector {
        Sector {
            sector_id: Uuid::from_u128(id),
            name: name.to_owned(),
            price: 10,
            capacity: 100,
            available: 100,
            held: 0,
            confirmed: 0,
        }
    }

    fn change(id: Option<u128>, name: Option<&str>, capacity: Option<i32>) -> SectorChange {
        SectorChange {
            sector_id: id.map(|id| SectorId(Uuid::from_u128(id))),
            name: name.map(str::to_owned),
            capacity,
            price: None,
        }
    }

    #[test]
    fn a_sector_is_found_by_id_or_else_by_name() {
        let existing = [sector(1, "A"), sector(2, "B")];
        let changes = [change(None, Some("B"), Some(90)), change(Some(1), Some("C"), None)];
        let plans = plan(&existing, &changes).expect("both are there");
        let summary: Vec<_> = plans
            .iter()
            .map(|plan| (plan.id.0.as_u128(), plan.name.as_str(), plan.describes, plan.resizes))
            .collect();
        assert_eq!(summary, [(1, "C", true, false), (2, "B", false, true)]);
    }

    #[test]
    fn what_makes_no_sense_is_rejected() {
        let existing = [sector(1, "A")];
        let rejected = |changes: &[SectorChange]| plan(&existing, changes).err();
        assert_eq!(rejected(&[change(None, Some("B"), None)]), Some(Rejected::Incomplete));
        assert_eq!(rejected(&[change(Some(9), None, Some(1))]), Some(Rejected::Incomplete));
        let twice = [change(Some(1), None, None), change(None, Some("A"), None)];
        assert_eq!(rejected(&twice), Some(Rejected::Twice));
        let many: Vec<_> =
            (0..SECTORS_MAX).map(|n| change(None, Some(&n.to_string()), Some(1))).collect();
        assert_eq!(rejected(&many), Some(Rejected::TooMany));
    }
}
