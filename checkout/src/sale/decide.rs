//! What becomes of each order of a batch. Pure: what the store knows comes in, decisions go out, and
//! the statements that write them are guarded by the same conditions.
//!
//! The oldest comes first; one that does not fit is refused and stands in nobody's way.

use std::collections::HashMap;

use super::Refusal;
use super::fingerprint::Fingerprint;

/// One order for places of the sector.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// Who asks.
    pub sub: &'a str,
    /// The request's key.
    pub key: &'a str,
    /// What the key stands for in this request.
    pub fingerprint: Fingerprint,
    /// Places, at least 1.
    pub quantity: i32,
    /// What the key stands for in the records, if it was decided before.
    pub recorded: Option<Fingerprint>,
}

/// What is left to be had when the batch is decided.
#[derive(Debug, Clone)]
pub struct Stock<'a> {
    /// Places left in the sector.
    pub available: i32,
    /// Places that one person may hold and own together.
    pub max_per_user: i32,
    /// What people hold and own already; who is not listed has nothing.
    pub totals: HashMap<&'a str, i32>,
}

/// What becomes of one order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It gets its places.
    Create,
    /// It is refused.
    Refuse(Refusal),
    /// Its key was decided before: the recorded answer.
    Repeat,
    /// Its key is decided with the order of that place in the batch: the same answer.
    SameAs(usize),
}

/// Decides the orders, oldest first. `stock` is what remains afterwards.
pub fn decide<'a>(asks: &[Ask<'a>], stock: &mut Stock<'a>) -> Vec<Decision> {
    let mut keys = HashMap::with_capacity(asks.len());
    let decide_one = |(place, ask): (usize, &Ask<'a>)| {
        if let Some(recorded) = ask.recorded {
            return if recorded == ask.fingerprint {
                Decision::Repeat
            } else {
                Decision::Refuse(Refusal::KeyReused)
            };
        }
        let (first, fingerprint) =
            *keys.entry((ask.sub, ask.key)).or_insert((place, ask.fingerprint));
        if fingerprint != ask.fingerprint {
            return Decision::Refuse(Refusal::KeyReused);
        }
        if first != place {
            return Decision::SameAs(first);
        }
        stock.take(ask).map_or_else(Decision::Refuse, |()| Decision::Create)
    };
    asks.iter().enumerate().map(decide_one).collect()
}

impl<'a> Stock<'a> {
    fn take(&mut self, ask: &Ask<'a>) -> Result<(), Refusal> {
        let total = self.totals.entry(ask.sub).or_insert(0);
        let would_have = total.saturating_add(ask.quantity);
        if would_have > self.max_per_user {
            return Err(Refusal::PurchaseLimit);
        }
        if ask.quantity > self.available {
            return Err(Refusal::SoldOut);
        }
        *total = would_have;
        self.available -= ask.quantity;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shared::ids::SectorId;
    use uuid::Uuid;

    use super::*;
    use crate::sale::basket::Basket;

    const PEOPLE: [&str; 4] = ["ada", "bob", "cem", "dot"];
    const KEYS: [&str; 3] = ["k1", "k2", "k3"];

    fn fingerprint(quantity: i32) -> Fingerprint {
        let line = (SectorId(Uuid::nil()), i64::from(quantity));
        Fingerprint::reserve(&Basket::new(&[line]).expect("within the bounds"))
    }

    /// The model: a shop that serves one after the other and remembers every answer.
    struct Shop {
        available: i32,
        max_per_user: i32,
        has: HashMap<&'static str, i32>,
        answers: HashMap<(&'static str, &'static str), (i32, Served)>,
    }

    type Served = Result<(), Refusal>;

    impl Shop {
        fn serve(&mut self, sub: &'static str, key: &'static str, n: i32) -> Served {
            if let Some((asked, answer)) = self.answers.get(&(sub, key)) {
                return if *asked == n { *answer } else { Err(Refusal::KeyReused) };
            }
            let has = self.has.get(sub).copied().unwrap_or(0);
            let answer = if has + n > self.max_per_user {
                Err(Refusal::PurchaseLimit)
            } else if n > self.available {
                Err(Refusal::SoldOut)
            } else {
                self.available -= n;
                self.has.insert(sub, has + n);
                Ok(())
            };
            self.answers.insert((sub, key), (n, answer));
            answer
        }
    }

    #[test]
    fn one_that_does_not_fit_does_not_stop_a_smaller_one_behind_it() {
        let ask = |sub, quantity| Ask {
            sub,
            key: "key",
            fingerprint: fingerprint(quantity),
            quantity,
            recorded: None,
        };
        let mut stock = Stock { available: 3, max_per_user: 4, totals: HashMap::new() };
        let decisions = decide(&[ask("ada", 4), ask("bob", 3), ask("cem", 1)], &mut stock);
        let sold_out = Decision::Refuse(Refusal::SoldOut);
        assert_eq!(decisions, [sold_out, Decision::Create, sold_out]);
    }

    proptest! {
        #[test]
        fn a_batch_is_decided_as_if_its_orders_had_come_one_by_one(
            before in prop::collection::vec((0_usize..4, 0_usize..3, 1_i32..=5), 0..6),
            orders in prop::collection::vec((0_usize..4, 0_usize..3, 1_i32..=5), 0..40),
            available in 0_i32..40,
            max_per_user in 1_i32..12,
        ) {
            let mut shop = Shop { available, max_per_user, has: HashMap::new(), answers: HashMap::new() };
            for (sub, key, quantity) in before {
                let _ = shop.serve(PEOPLE[sub], KEYS[key], quantity);
            }
            let asks: Vec<Ask<'_>> = orders.iter().map(|&(sub, key, quantity)| Ask {
                sub: PEOPLE[sub],
                key: KEYS[key],
                fingerprint: fingerprint(quantity),
                quantity,
                recorded: shop.answers.get(&(PEOPLE[sub], KEYS[key])).map(|(n, _)| fingerprint(*n)),
            }).collect();
            let totals = shop.has.iter().map(|(&sub, &has)| (sub, has)).collect();
            let mut stock = Stock { available: shop.available, max_per_user, totals };
            let recorded = shop.answers.iter().map(|(key, (_, answer))| (*key, *answer));
            let recorded: HashMap<_, _> = recorded.collect();

            let decisions = decide(&asks, &mut stock);
            let answer = |place: usize| match decisions[place] {
                Decision::Create => Ok(()),
                Decision::Refuse(refusal) => Err(refusal),
                Decision::Repeat => recorded[&(asks[place].sub, asks[place].key)],
                Decision::SameAs(first) => match decisions[first] {
                    Decision::Create => Ok(()),
                    Decision::Refuse(refusal) => Err(refusal),
                    other => panic!("the first of its key is {other:?}"),
                },
            };
            for (place, &(sub, key, quantity)) in orders.iter().enumerate() {
                let expected = shop.serve(PEOPLE[sub], KEYS[key], quantity);
                prop_assert_eq!(answer(place), expected, "order {}", place);
            }
            prop_assert_eq!(stock.available, shop.available);
            prop_assert!(stock.available >= 0);
            for (sub, has) in &shop.has {
                prop_assert_eq!(stock.totals.get(sub), Some(has));
                prop_assert!(*has <= max_per_user);
            }
        }
    }
}
