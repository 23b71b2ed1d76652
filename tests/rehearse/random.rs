//! Chance that can be repeated.

use uuid::{Builder, Uuid};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): small, and good for any seed.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A source of its own for somebody, so that what one person does changes nobody else's chances.
    pub(crate) fn of(seed: u64, person: usize) -> Self {
        let mut random = Self(seed ^ (person as u64).wrapping_mul(0xA076_1D64_78BD_642F));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// 0 up to, but not, 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether something happens that happens to so many of a hundred.
    pub(crate) fn chance(&mut self, percent: f64) -> bool {
        self.share() * 100.0 < percent
    }

    /// From `least` up to, but not, `most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least).max(1)
    }

    /// One of them.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let index = usize::try_from(self.next() % all.len() as u64).unwrap_or_default();
        all[index]
    }

    /// Log-normal with this median and σ = 0.6, as the sum of twelve shares is nearly normal: what people
    /// take to press a button.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "some minutes at most"
    )]
    pub(crate) fn around_ms(&mut self, median_ms: f64) -> u64 {
        let normal: f64 = (0..12).map(|_| self.share()).sum::<f64>() - 6.0;
        (median_ms * (0.6 * normal).exp()) as u64
    }

    pub(crate) fn uuid(&mut self) -> Uuid {
        let bytes = u128::from(self.next()) << 64 | u128::from(self.next());
        Builder::from_random_bytes(bytes.to_be_bytes()).into_uuid()
    }
}
