//! Figures, and a table of them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::place::Path;

/// What one run has given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

impl Figures {
    pub(crate) fn new(mut waits: Vec<Duration>, measured: Duration) -> Self {
        waits.sort_unstable();
        let at = |share: usize| {
            let wait = waits.get(waits.len() * share / 100).or(waits.last());
            wait.copied().unwrap_or_default().as_secs_f64() * 1_000.0
        };
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 requests")]
        let per_second = waits.len() as f64 / measured.as_secs_f64();
        Self { per_second, p50_ms: at(50), p99_ms: at(99) }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { per_second, p50_ms, p99_ms } = self;
        write!(formatter, "{per_second:.0}/s, p50 {p50_ms:.1} ms, p99 {p99_ms:.1} ms")
    }
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs by clients and path.
#[derive(Default)]
pub(crate) struct Table(BTreeMap<(usize, Path), Vec<Figures>>);

impl Table {
    pub(crate) fn add(&mut self, clients: usize, path: Path, figures: Figures) {
        self.0.entry((clients, path)).or_default().push(figures);
    }

    /// The highest median throughput of a path, over all numbers of clients.
    pub(crate) fn best(&self, path: Path) -> f64 {
        let of_path = self.0.iter().filter(|((_, other), _)| *other == path);
        of_path.map(|(_, runs)| medians(runs).per_second).fold(0.0, f64::max)
    }
}

fn medians(runs: &[Figures]) -> Figures {
    let of = |part: fn(&Figures) -> f64| median(&mut runs.iter().map(part).collect::<Vec<_>>());
    Figures {
        per_second: of(|figures| figures.per_second),
        p50_ms: of(|figures| figures.p50_ms),
        p99_ms: of(|figures| figures.p99_ms),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "| clients | path | requests/s | p50 ms | p99 ms | product is |")?;
        writeln!(formatter, "|---:|---|---:|---:|---:|---:|")?;
        for ((clients, path), runs) in &self.0 {
            let Figures { per_second, p50_ms, p99_ms } = medians(runs);
            let product =
                self.0.get(&(*clients, Path::Product)).map(|runs| medians(runs).per_second);
            let ratio = match product {
                Some(product) if *path != Path::Product => format!("{:.2} ×", product / per_second),
                _ => String::new(),
            };
            writeln!(
                formatter,
                "| {clients} | {path} | {per_second:.0} | {p50_ms:.1} | {p99_ms:.1} | {ratio} |"
            )?;
        }
        Ok(())
    }
}
