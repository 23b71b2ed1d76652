//! The checkout's command line. It only wires.

use std::process::ExitCode;

use anyhow::Context;
use checkout::Settings;
use checkout::settings::DatabaseUrl;
use clap::{Args, Parser, Subcommand};
use shared::ids::EventId;
use shared::serve::{Listeners, shutdown_signal};
use shared::{settings, telemetry};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sells a limited stock without ever selling a place twice.
#[derive(Parser)]
#[command(name = "checkout", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve; what is done without a subcommand, then configured by the environment alone.
    Serve(Box<Settings>),
    /// Apply the migrations that are missing.
    Migrate(DatabaseUrl),
    /// Compare counters, rows and outbox; fails when they differ.
    Reconcile(Reconcile),
}

#[derive(Args)]
struct Reconcile {
    #[command(flatten)]
    database: DatabaseUrl,
    /// The event; without it, all of them.
    #[arg(long)]
    event: Option<EventId>,
    /// Set counters right from the rows, and add to the outbox what is not in it, before comparing. The
    /// event's sale waits while its rows are counted. What cannot be set right without selling a place
    /// twice is left and said.
    #[arg(long)]
    repair: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    checkout::runtime::new()?.block_on(run(settings::parse::<Cli>().command))
}

async fn run(command: Option<Command>) -> anyhow::Result<ExitCode> {
    match command {
        None => serve(settings::parse::<Settings>()).await,
        Some(Command::Serve(settings)) => serve(*settings).await,
        Some(Command::Migrate(database)) => {
            checkout::migrate(&database.database_url).await?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Reconcile(arguments)) => reconcile(arguments).await,
    }
}

async fn serve(settings: Settings) -> anyhow::Result<ExitCode> {
    telemetry::init_logs(&settings.common.log, settings.common.log_format)?;
    let shutdown = shutdown_signal()?;
    let listeners =
        Listeners::bind(settings.listen, settings.ops_listen).await.with_context(|| {
            let (public, ops) = (settings.listen, settings.ops_listen);
            format!("STANCHION_LISTEN ({public}) or STANCHION_OPS_LISTEN ({ops}) cannot be bound")
        })?;
    checkout::run(settings, listeners, shutdown).await?;
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stdout, reason = "the report is what the command is for")]
async fn reconcile(arguments: Reconcile) -> anyhow::Result<ExitCode> {
    let Reconcile { database, event, repair } = arguments;
    let reports = checkout::reconcile(&database.database_url, event, repair).await?;
    println!("{}", serde_json::to_string_pretty(&reports)?);
    let consistent = reports.iter().all(|report| report.consistent);
    Ok(if consistent { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
