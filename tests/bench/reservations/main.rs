//! Figures of reservations: the product beside three baselines of their own, in one run and on the same
//! stores.
//!
//! ```text
//! cargo build --profile dist -p tests --bin bench-reservations && target/dist/bench-reservations
//! ```
//!
//! | path | what it is |
//! |---|---|
//! | product | the service: verify, limit, parse, queue, batch, durable commit |
//! | lock | (a) the same, with one transaction per request behind a lock on the sector |
//! | table | (b) the same, with a durable queue table that a worker drains in batches of 200 |
//! | no-db | (c) the same, with the database taken out: the ceiling |
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod backs;
mod front;
mod load;
mod people;
mod place;
mod report;

use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::people::People;
use crate::place::Path;
use crate::report::{Figures, Table};

// As the service's own binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures reservations.
#[derive(Parser)]
struct Cli {
    /// Connections, one request under way on each; one row of the table for each number.
    #[arg(long, value_delimiter = ',', default_values_t = [64, 256])]
    clients: Vec<usize>,
    /// How long each run is measured, in seconds, after a second of warming up.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Runs of each; the median counts.
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Requests for the last place.
    #[arg(long, default_value_t = 100_000)]
    rush: usize,
    /// What to measure.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [What::Throughput, What::Latency, What::Rush])]
    only: Vec<What>,
    /// Which paths.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Path::ALL)]
    paths: Vec<Path>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// As many as each path can do.
    Throughput,
    /// Waits at 70 % of what the product can do, arrivals at a fixed rate.
    Latency,
    /// Very many requests for one last place.
    Rush,
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    // The load has threads of its own, as it would come from elsewhere.
    let load = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("load")
        .enable_all()
        .build()?;
    let server = checkout::runtime::new()?;
    let people = People::admitted(cli.rush.max(100_000));
    let bench = Bench { cli, people, load, server };
    let mut best = 0.0;
    if bench.cli.only.contains(&What::Throughput) {
        best = bench.throughput()?;
    }
    if bench.cli.only.contains(&What::Latency) {
        bench.latency(best)?;
    }
    if bench.cli.only.contains(&What::Rush) {
        bench.rush()?;
    }
    Ok(())
}

struct Bench {
    cli: Cli,
    people: People,
    load: tokio::runtime::Runtime,
    server: tokio::runtime::Runtime,
}

impl Bench {
    /// The table of throughputs; the product's best.
    fn throughput(&self) -> anyhow::Result<f64> {
        let mut table = Table::default();
        for &clients in &self.cli.clients {
            for &path in &self.cli.paths {
                // Interleaved, a noisy neighbour would hit one of a path's runs and not all.
                for _ in 0..self.cli.runs {
                    table.add(clients, path, self.closed_loop(path, clients)?);
                }
            }
        }
        println!("{table}");
        Ok(table.best(Path::Product))
    }

    fn closed_loop(&self, path: Path, clients: usize) -> anyhow::Result<Figures> {
        let place = self.server.block_on(place::open(path, 100_000_000))?;
        let measured = Duration::from_secs(self.cli.seconds);
        let load = load::closed_loop(&place, &self.people, clients, measured);
        let figures = self.load.block_on(load)?;
        self.server.block_on(place.close())?;
        eprintln_figures(&format!("{path:?} × {clients}"), &figures);
        Ok(figures)
    }

    fn latency(&self, best: f64) -> anyhow::Result<()> {
        let best = if best > 0.0 { best } else { self.closed_loop(Path::Product, 256)?.per_second };
        println!("open loop, {:.0} requests/s (70 % of {best:.0}), 256 connections", best * 0.7);
        let mut table = Table::default();
        for _ in 0..self.cli.runs {
            let place = self.server.block_on(place::open(Path::Product, 100_000_000))?;
            let measured = Duration::from_secs(self.cli.seconds);
            let load = load::open_loop(&place, &self.people, 256, best * 0.7, measured);
            table.add(256, Path::Product, self.load.block_on(load)?);
            self.server.block_on(place.close())?;
        }
        println!("{table}");
        Ok(())
    }

    fn rush(&self) -> anyhow::Result<()> {
        println!("{} requests for the last place, over 1000 connections", self.cli.rush);
        let mut medians = Vec::new();
        for path in [Path::Product, Path::NoDb] {
            let mut seconds = Vec::new();
            for _ in 0..self.cli.runs {
                let place = self.server.block_on(place::open(path, 1))?;
                let rush = load::rush(&place, &self.people, 1_000, self.cli.rush);
                let rush = self.load.block_on(rush)?;
                self.server.block_on(place.close())?;
                println!("  {path:?}: {rush}");
                anyhow::ensure!(rush.answered() == self.cli.rush, "not every request was answered");
                anyhow::ensure!(rush.count(201) == 1, "{} have the last place", rush.count(201));
                seconds.push(rush.seconds);
            }
            medians.push(report::median(&mut seconds));
        }
        println!("  product / no-db: {:.2}", medians[0] / medians[1]);
        Ok(())
    }
}

#[expect(clippy::print_stderr, reason = "what goes on, beside the table")]
fn eprintln_figures(name: &str, figures: &Figures) {
    eprintln!("{name}: {figures}");
}
