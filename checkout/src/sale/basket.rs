//! What somebody asks for: places per sector.

use std::collections::BTreeMap;

use shared::ids::SectorId;

/// Lines that one request may have.
pub const LINES_MAX: usize = 20;
/// Places that one request may ask for, whatever an event allows.
pub const QUANTITY_MAX: i32 = 10_000;

/// What is wrong with a basket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBasket {
    /// No line, or more than [`LINES_MAX`].
    #[error("a basket has 1 to 20 items")]
    Lines,
    /// A line under 1, or a sum above [`QUANTITY_MAX`].
    #[error("a quantity is at least 1, and all together are at most 10000")]
    Quantity,
}

/// Demand per sector, summed, in ascending order of the sector: the order in which everybody locks
/// rows. Never empty; every quantity is at least 1 and their sum at most [`QUANTITY_MAX`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basket(Vec<(SectorId, i32)>);

impl Basket {
    /// Sums what is asked of the same sector, so that it is held against the stock as one.
    pub fn new(lines: &[(SectorId, i64)]) -> Result<Self, InvalidBasket> {
        if lines.is_empty() || lines.len() > LINES_MAX {
            return Err(InvalidBasket::Lines);
        }
        let mut total = 0;
        let mut demand = BTreeMap::new();
        for &(sector, quantity) in lines {
            let quantity = i32::try_from(quantity)
                .ok()
                .filter(|quantity| (1..=QUANTITY_MAX - total).contains(quantity))
                .ok_or(InvalidBasket::Quantity)?;
            total += quantity;
            *demand.entry(sector).or_insert(0) += quantity;
        }
        Ok(Self(demand.into_iter().collect()))
    }

    /// Sector and quantity, ascending.
    pub fn lines(&self) -> &[(SectorId, i32)] {
        &self.0
    }

    /// The sectors, ascending.
    pub fn sectors(&self) -> impl Iterator<Item = SectorId> {
        self.0.iter().map(|&(sector, _)| sector)
    }

    /// Places over all sectors.
    pub fn total(&self) -> i32 {
        self.0.iter().map(|&(_, quantity)| quantity).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn sector(number: u8) -> SectorId {
        SectorId(Uuid::from_u128(number.into()))
    }

    #[test]
    fn quantities_outside_the_bounds_are_refused() {
        for quantity in [0, -1, 10_001, 1 << 31, i64::MIN, i64::MAX] {
            let basket = Basket::new(&[(sector(1), quantity)]);
            assert_eq!(basket, Err(InvalidBasket::Quantity), "{quantity}");
        }
        let sum = Basket::new(&[(sector(1), 10_000), (sector(2), 1)]);
        assert_eq!(sum, Err(InvalidBasket::Quantity));
        assert_eq!(Basket::new(&[]), Err(InvalidBasket::Lines));
        assert_eq!(Basket::new(&[(sector(1), 1); 21]), Err(InvalidBasket::Lines));
    }

    proptest! {
        #[test]
        fn demand_is_summed_per_sector_and_ascending(
            lines in prop::collection::vec((0_u8..5, 1_i64..=500), 1..=LINES_MAX)
        ) {
            let lines: Vec<_> = lines.into_iter().map(|(id, n)| (sector(id), n)).collect();
            let basket = Basket::new(&lines).expect("within the bounds");
            prop_assert!(basket.lines().is_sorted_by(|a, b| a.0 < b.0));
            for (id, quantity) in basket.lines() {
                let asked: i64 = lines.iter().filter(|line| line.0 == *id).map(|line| line.1).sum();
                prop_assert_eq!(i64::from(*quantity), asked);
            }
            let asked: i64 = lines.iter().map(|line| line.1).sum();
            prop_assert_eq!(i64::from(basket.total()), asked);
        }
    }
}
