//! How many of those ahead are there, from counts by stretches of the queue.

/// People who are there between the serving counter and a rank; never more than there are ranks
/// between. Each count of `there` is for `stretch` ranks, the first beginning behind the counter.
pub fn there_ahead(rank: u64, serving: u64, stretch: u64, there: &[u64]) -> u64 {
    let Some(ranks) = rank.checked_sub(serving + 1) else { return 0 };
    let (mut ranks_left, mut ahead) = (ranks, 0);
    for &count in there {
        if ranks_left < stretch {
            // In his own stretch, those who are there are taken as evenly spread.
            let part = u128::from(count) * u128::from(ranks_left) / u128::from(stretch.max(1));
            return (ahead + u64::try_from(part).unwrap_or(ranks_left)).min(ranks);
        }
        ahead += count;
        ranks_left -= stretch;
    }
    // Who has joined since the count stands behind everybody who was counted, and they are all new.
    (ahead + ranks_left).min(ranks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn absent_people_are_not_counted() {
        // Ranks 11 to 20 hold 4 people, 21 to 30 hold 10.
        let ahead = |rank| there_ahead(rank, 10, 10, &[4, 10]);
        assert_eq!((ahead(10), ahead(11), ahead(16), ahead(21)), (0, 0, 2, 4));
        assert_eq!((ahead(26), ahead(31), ahead(34)), (9, 14, 17));
    }

    #[test]
    fn without_counts_everybody_ahead_counts() {
        assert_eq!(there_ahead(8, 3, 0, &[]), 4);
    }

    proptest! {
        #[test]
        fn who_stands_further_behind_has_no_fewer_ahead(
            serving in 0u64..1_000, stretch in 1u64..50,
            shares in proptest::collection::vec(0.0f64..=1.0, 0..64), rank in 0u64..5_000,
        ) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "at most 50")]
            let there: Vec<u64> = shares.iter().map(|share| (share * stretch as f64) as u64).collect();
            let ahead = |rank| there_ahead(rank, serving, stretch, &there);
            prop_assert!(ahead(rank) <= ahead(rank + 1));
            prop_assert!(ahead(rank) <= rank.saturating_sub(serving + 1));
        }
    }
}
