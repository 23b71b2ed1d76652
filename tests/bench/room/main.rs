//! Figures of the waiting room. Each subcommand starts a Redis and the service's own binary for itself,
//! and puts everything that it compares into one run.
//!
//! ```text
//! cargo build --profile dist -p waiting-room -p tests && target/dist/bench-room all
//! ```
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod crowd;
mod draw;
mod noshows;
mod poll;
mod stack;
mod streams;

use clap::{Parser, Subcommand};

/// Measures the waiting room.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// My place, against an empty route of the same server (needs wrk).
    Poll,
    /// A million people waiting: joins a second, Redis' memory, the node's memory.
    Crowd,
    /// Tokens issued while 40 % of the called do not come.
    NoShows {
        /// How long, in minutes.
        #[arg(long, default_value_t = 6)]
        minutes: u64,
    },
    /// Open streams on one node.
    Streams {
        /// How many.
        #[arg(long, default_value_t = 20_000)]
        count: usize,
    },
    /// Opening a pre-queue of a million.
    Draw,
    /// All of them.
    All,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().bench {
        Bench::Poll => poll::run().await,
        Bench::Crowd => crowd::run().await,
        Bench::NoShows { minutes } => noshows::run(minutes).await,
        Bench::Streams { count } => streams::run(count).await,
        Bench::Draw => draw::run().await,
        Bench::All => {
            draw::run().await?;
            poll::run().await?;
            crowd::run().await?;
            streams::run(20_000).await?;
            noshows::run(6).await
        }
    }
}
