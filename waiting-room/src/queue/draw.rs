//! The draw: puts everybody who came before the opening in random order, verifiably.
//!
//! The order is a keyed permutation of `0..n`, so that nothing is stored per person and one number's
//! rank costs ten hashes, whatever `n` is. It is a Feistel network over `Z_a × Z_b` with `a·b ≥ n` and
//! cycle walking back into `0..n` (Black and Rogaway, "Ciphers with Arbitrary Finite Domains",
//! CT-RSA 2002: the generalised-Feistel construction, with ten rounds, as NIST SP 800-38G has for
//! small domains). As `a` and `b` are the nearest to √n, walking is rare.
//!
//! Anybody can recompute it, in any language:
//!
//! ```text
//! key      = SHA-256("stanchion-draw-v1" ‖ seed ‖ beacon)       seed: 32 bytes; beacon: UTF-8, or empty
//! F(i, v)  = first 8 bytes, big-endian, of SHA-256(key ‖ i as 1 byte ‖ v as 8 bytes, big-endian)
//! a = ⌈√n⌉, b = ⌈n / a⌉; x = number − 1
//! repeat:  l = x div b, r = x mod b
//!          for i in 0..10:  if i is even  l = (l + F(i, r)) mod a,  else  r = (r + F(i, l)) mod b
//!          x = l·b + r
//! until x < n; rank = x + 1
//! ```

use aws_lc_rs::digest::{Context, SHA256, digest};

/// The name under which the algorithm is published.
pub const ALGORITHM: &str = "stanchion-draw-v1";
const ROUNDS: u8 = 10;

/// The secret of a draw until the opening: 32 random bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// From random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// From 64 hex digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text).ok()?.try_into().ok().map(Self)
    }

    /// As 64 hex digits: to be stored, and to be published after the opening only.
    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }

    /// What is published before the opening: the SHA-256 of the seed, in hex.
    pub fn commitment(&self) -> String {
        hex::encode(digest(&SHA256, &self.0))
    }
}

impl std::fmt::Debug for Seed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Seed(…)")
    }
}

/// A draw among `n` people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    key: [u8; 32],
    n: u64,
    a: u64,
    b: u64,
}

impl Draw {
    /// The draw among the numbers `1..=n`.
    pub fn new(seed: &Seed, beacon: &str, n: u64) -> Self {
        let mut hash = Context::new(&SHA256);
        hash.update(ALGORITHM.as_bytes());
        hash.update(&seed.0);
        hash.update(beacon.as_bytes());
        let mut key = [0; 32];
        key.copy_from_slice(hash.finish().as_ref());
        let root = n.isqrt();
        let a = if root * root == n { root } else { root + 1 }.max(1);
        Self { key, n, a, b: n.div_ceil(a).max(1) }
    }

    /// How many people are drawn.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The rank of a queue number: drawn for the first `n`, and the number itself for all who came
    /// later.
    pub fn rank(&self, number: u64) -> u64 {
        if number == 0 || number > self.n {
            return number;
        }
        let mut x = number - 1;
        loop {
            x = self.network(x);
            if x < self.n {
                return x + 1;
            }
        }
    }

    fn network(&self, x: u64) -> u64 {
        let (mut l, mut r) = (x / self.b, x % self.b);
        for round in 0..ROUNDS {
            if round.is_multiple_of(2) {
                l = add(l, self.hash(round, r), self.a);
            } else {
                r = add(r, self.hash(round, l), self.b);
            }
        }
        l * self.b + r
    }

    fn hash(&self, round: u8, value: u64) -> u64 {
        let mut input = [0; 41];
        input[..32].copy_from_slice(&self.key);
        input[32] = round;
        input[33..].copy_from_slice(&value.to_be_bytes());
        let output = digest(&SHA256, &input);
        let mut first = [0; 8];
        first.copy_from_slice(&output.as_ref()[..8]);
        u64::from_be_bytes(first)
    }
}

fn add(left: u64, right: u64, modulus: u64) -> u64 {
    // Both summands are below the modulus, which is at most 2³².
    (left + right % modulus) % modulus
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn draw(seed: u64, n: u64) -> Draw {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_be_bytes());
        Draw::new(&Seed::new(bytes), "", n)
    }

    fn assert_bijection(draw: &Draw) {
        let n = usize::try_from(draw.n()).expect("it fits in memory");
        let mut taken = vec![false; n];
        for number in 1..=draw.n() {
            let rank = draw.rank(number);
            assert!((1..=draw.n()).contains(&rank), "rank {rank} of {n}");
            let place = &mut taken[usize::try_from(rank - 1).expect("below n")];
            assert!(!*place, "rank {rank} twice among {n}");
            *place = true;
        }
    }

    #[test]
    fn every_size_up_to_600_and_around_powers_and_squares_is_a_bijection() {
        for n in 1..=600 {
            assert_bijection(&draw(n, n));
        }
        for bits in 10..=16 {
            for n in [(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1] {
                assert_bijection(&draw(7, n));
            }
        }
        for root in [100u64, 255, 256] {
            for n in [root * root - 1, root * root, root * root + 1, root * (root + 1)] {
                assert_bijection(&draw(8, n));
            }
        }
    }

    #[test]
    fn a_million_is_a_bijection() {
        assert_bijection(&draw(9, 1 << 20));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_seed_and_size_is_a_bijection(seed: u64, n in 1u64..5_000) {
            assert_bijection(&draw(seed, n));
        }
    }

    /// Each of n numbers falls on each of n ranks equally often over many seeds. χ² with (n−1)²
    /// degrees of freedom; for so many it is near normal with variance twice as large, and five
    /// standard deviations are passed by chance less than once in a million runs.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    fn over_seeds_every_number_is_equally_likely_at_every_rank() {
        for n in [2usize, 3, 4, 5, 7, 16, 30] {
            let seeds = 400 * n;
            let mut counts = vec![0u32; n * n];
            for seed in 0..seeds {
                let draw = draw(seed as u64, n as u64);
                for number in 0..n {
                    let rank = draw.rank(number as u64 + 1) - 1;
                    counts[number * n + usize::try_from(rank).expect("below n")] += 1;
                }
            }
            let expected = seeds as f64 / n as f64;
            let chi2: f64 =
                counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
            let freedom = ((n - 1) * (n - 1)) as f64;
            let bound = freedom + 5.0 * (2.0 * freedom).sqrt() + 5.0;
            assert!(chi2 < bound, "χ² of {chi2:.1} for n = {n}, bound {bound:.1}");
        }
    }

    #[test]
    fn all_orders_of_three_and_four_occur() {
        for n in [3u64, 4] {
            let orders: std::collections::HashSet<Vec<u64>> = (0..4_000)
                .map(|seed| (1..=n).map(|number| draw(seed, n).rank(number)).collect())
                .collect();
            assert_eq!(orders.len() as u64, (1..=n).product::<u64>());
        }
    }

    #[test]
    fn later_comers_keep_their_order_behind_the_drawn() {
        let draw = draw(1, 100);
        assert_eq!((draw.rank(101), draw.rank(5_000)), (101, 5_000));
    }

    #[test]
    fn the_seed_and_the_beacon_both_decide() {
        let seed = Seed::new([7; 32]);
        let order = |draw: &Draw| (1..=50).map(|number| draw.rank(number)).collect::<Vec<_>>();
        let plain = order(&Draw::new(&seed, "", 50));
        assert_ne!(plain, order(&Draw::new(&seed, "block 900000", 50)));
        assert_ne!(plain, order(&Draw::new(&Seed::new([8; 32]), "", 50)));
        assert_eq!(plain, order(&Draw::new(&seed, "", 50)));
        assert_eq!(Seed::from_hex(&seed.to_hex()), Some(seed.clone()));
        // SHA-256 of 32 bytes of 7, from coreutils' sha256sum.
        assert_eq!(
            seed.commitment(),
            "4bb06f8e4e3a7715d201d573d0aa423762e55dabd61a2c02278fa56cc6d294e0"
        );
    }
}
