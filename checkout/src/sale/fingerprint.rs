//! What a request asks for, as 32 bytes: the same key with another fingerprint is another request.

use aws_lc_rs::digest::{Context, SHA256};
use shared::ids::ReservationId;

use super::basket::Basket;

/// SHA-256 of a request in its canonical form. The order of a basket's items and how they are
/// split into lines are not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of asking for these places.
    pub fn reserve(basket: &Basket) -> Self {
        let mut hash = Context::new(&SHA256);
        hash.update(b"reserve\n");
        for (sector, quantity) in basket.lines() {
            hash.update(sector.0.as_bytes());
            hash.update(&quantity.to_be_bytes());
        }
        Self::finished(hash)
    }

    /// Of confirming this reservation.
    pub fn confirm(id: ReservationId) -> Self {
        Self::of(b"confirm\n", id.0.as_bytes())
    }

    /// Of extending this hold.
    pub fn extend(id: ReservationId) -> Self {
        Self::of(b"extend\n", id.0.as_bytes())
    }

    /// Of paying for this reservation.
    pub fn pay(id: ReservationId, provider: &str, method: &str) -> Self {
        let request = [id.0.as_bytes(), provider.as_bytes(), b"\n", method.as_bytes()].concat();
        Self::of(b"pay\n", &request)
    }

    /// As it was recorded. None when it is not one.
    pub fn recorded(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn of(operation: &[u8], request: &[u8]) -> Self {
        let mut hash = Context::new(&SHA256);
        hash.update(operation);
        hash.update(request);
        Self::finished(hash)
    }

    fn finished(hash: Context) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hash.finish().as_ref());
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shared::ids::SectorId;
    use uuid::Uuid;

    use super::*;

    fn of(lines: &[(u8, i64)]) -> Fingerprint {
        let lines: Vec<_> =
            lines.iter().map(|&(id, n)| (SectorId(Uuid::from_u128(id.into())), n)).collect();
        Fingerprint::reserve(&Basket::new(&lines).expect("within the bounds"))
    }

    #[test]
    fn another_quantity_sector_or_operation_is_another_request() {
        let one = of(&[(1, 1)]);
        assert_ne!(one, of(&[(1, 2)]));
        assert_ne!(one, of(&[(2, 1)]));
        assert_ne!(one, of(&[(1, 1), (2, 1)]));
        let id = ReservationId(Uuid::from_u128(1));
        assert_ne!(one, Fingerprint::confirm(id));
        assert_ne!(Fingerprint::confirm(ReservationId(Uuid::nil())), Fingerprint::confirm(id));
    }

    proptest! {
        #[test]
        fn order_and_duplicates_do_not_matter(
            (lines, shuffled) in prop::collection::vec((0_u8..5, 1_i64..=100), 1..=10)
                .prop_flat_map(|lines| (Just(lines.clone()), Just(lines).prop_shuffle()))
        ) {
            let merged = lines.iter().fold(std::collections::BTreeMap::new(), |mut sums, line| {
                *sums.entry(line.0).or_insert(0) += line.1;
                sums
            });
            let merged: Vec<_> = merged.into_iter().collect();
            prop_assert_eq!(of(&lines), of(&shuffled));
            prop_assert_eq!(of(&lines), of(&merged));
        }
    }
}
