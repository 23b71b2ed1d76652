//! When people come: a crowd that gathers before the opening, a burst at it, and a trickle.

use super::random::Random;

/// The shape of the arrivals. Times are milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Curve {
    /// From the start to the opening.
    pub(crate) pre_queue_ms: u64,
    /// From the opening to the last arrival.
    pub(crate) arrive_ms: u64,
    /// Of a hundred, how many come before the opening.
    pub(crate) early: f64,
    /// Of a hundred, how many come in a rush at the opening.
    pub(crate) burst: f64,
}

/// Of the time after the opening, the part in which the rush loses two thirds of its strength.
const BURST_DECAY: f64 = 0.08;

impl Curve {
    /// When each of so many people comes, ascending, in milliseconds from the start.
    pub(crate) fn arrivals(&self, people: usize, random: &mut Random) -> Vec<u64> {
        let mut at: Vec<u64> = (0..people).map(|_| self.one(random)).collect();
        at.sort_unstable();
        at
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rehearsal is shorter than a day"
    )]
    fn one(&self, random: &mut Random) -> u64 {
        let (pre, after) = (self.pre_queue_ms as f64, self.arrive_ms as f64);
        let kind = random.share() * 100.0;
        if kind < self.early {
            // More and more people towards the opening.
            return (pre * random.share().sqrt()) as u64;
        }
        let share = random.share();
        let part = if kind < self.early + self.burst {
            let rest = (-1.0 / BURST_DECAY).exp();
            -BURST_DECAY * (1.0 - share * (1.0 - rest)).ln()
        } else {
            share
        };
        (pre + after * part.clamp(0.0, 1.0)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Curve =
        Curve { pre_queue_ms: 60_000, arrive_ms: 100_000, early: 60.0, burst: 25.0 };

    #[test]
    fn the_crowd_gathers_rushes_and_trickles() {
        let at = CURVE.arrivals(10_000, &mut Random::new(1));
        let within = |from: u64, to: u64| at.iter().filter(|&&at| (from..to).contains(&at)).count();
        assert_eq!(at.len(), 10_000);
        assert!(at.is_sorted() && at.iter().all(|&at| at <= 160_000));
        assert!((5_800..6_200).contains(&within(0, 60_000)));
        assert!(within(45_000, 60_000) > 2 * within(0, 15_000), "more towards the opening");
        assert!((1_500..2_200).contains(&within(60_000, 70_000)), "{}", within(60_000, 70_000));
        assert!((100..250).contains(&within(150_000, 160_000)), "{}", within(150_000, 160_000));
    }

    #[test]
    fn the_seed_alone_decides() {
        let arrivals = |seed| CURVE.arrivals(500, &mut Random::new(seed));
        assert_eq!(arrivals(7), arrivals(7));
        assert_ne!(arrivals(7), arrivals(8));
    }
}
