//! The report, for machines and for people.

mod chart;
mod page;
mod tables;

use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use time::OffsetDateTime;

use super::cli::Cli;
use super::figures::{Figures, told_and_actual};
use super::plan::Counts;
use super::record::{Promised, Record, Sample};
use super::verdict::{self, Check, Outcome, ranks};

/// Names the form of the JSON; a field that changes its meaning changes this.
const SCHEMA: &str = "stanchion-rehearsal/1";
/// People drawn as points in a chart.
const POINTS_MAX: usize = 1_500;

/// What a rehearsal has come to. Times in names that end in `_ms` are milliseconds from its start.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    schema: &'static str,
    #[serde(with = "time::serde::rfc3339")]
    started_at: OffsetDateTime,
    took_ms: u64,
    opened_ms: u64,
    ended_early: bool,
    exit_code: u8,
    seed: u64,
    promised: Promised,
    plan: Counts,
    checks: Vec<Check>,
    figures: Figures,
    /// Once a second.
    samples: Vec<Sample>,
    /// Of some people: rank, and when they were admitted.
    order: Vec<(u64, u64)>,
    /// Of some people: the least and the most seconds that they were told, and what it came to.
    waits: Vec<(u64, u64, f64)>,
}

impl Report {
    pub(crate) fn new(
        cli: &Cli,
        promised: &Promised,
        plan: Counts,
        started_at: OffsetDateTime,
        record: &Record,
    ) -> Self {
        let checks = verdict::judge(promised, record);
        let order = record.lives.iter().zip(ranks(record));
        let order = order.filter_map(|(life, rank)| Some((rank?, life.admitted.as_ref()?.at_ms)));
        Self {
            schema: SCHEMA,
            started_at,
            took_ms: record.took_ms,
            opened_ms: record.opened_ms,
            ended_early: record.ended_early,
            exit_code: verdict::exit_code(&checks, record.ended_early),
            seed: cli.seed,
            promised: promised.clone(),
            plan,
            checks,
            figures: Figures::new(record),
            samples: record.samples.clone(),
            order: some(order.collect()),
            waits: some(told_and_actual(record)),
        }
    }

    /// 0 everything held, 1 something is broken, 3 it ended early or too little was seen.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.exit_code
    }

    /// How it stands with an invariant, by its number, or with `order` and `answers`: the worst of what was
    /// looked at, and the numbers.
    #[must_use]
    pub fn outcome(&self, id: &str) -> Option<(Outcome, String)> {
        let of_id = || self.checks.iter().filter(|check| check.id == id);
        let worst = of_id().find(|check| check.outcome == Outcome::Broken);
        worst.or_else(|| of_id().next()).map(|check| (check.outcome, check.seen.clone()))
    }

    /// The JSON.
    ///
    /// # Panics
    /// Never: it is made of numbers and texts.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and texts are always JSON")
    }

    /// The page, whole in itself.
    #[must_use]
    pub fn page(&self) -> String {
        page::page(self)
    }

    /// The verdict as lines of text.
    #[must_use]
    pub fn text(&self) -> String {
        tables::text(self)
    }

    /// Writes the page and the JSON where the command line says, and the verdict to standard error.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, cli: &Cli) -> anyhow::Result<()> {
        save(&cli.report, &self.page())?;
        match cli.json.as_deref() {
            Some(path) if path == Path::new("-") => print(&self.json()),
            Some(path) => save(path, &self.json())?,
            None => {}
        }
        eprintln!("{}\n\nreport: {}", self.text(), cli.report.display());
        Ok(())
    }
}

fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[expect(clippy::print_stdout, reason = "asked for on standard output")]
fn print(text: &str) {
    println!("{text}");
}

/// Evenly chosen, at most so many as a chart can show.
fn some<T: Copy>(all: Vec<T>) -> Vec<T> {
    let step = all.len().div_ceil(POINTS_MAX).max(1);
    all.into_iter().step_by(step).collect()
}
