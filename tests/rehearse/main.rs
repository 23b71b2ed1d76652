//! Rehearses a sale over HTTP, with people who behave as people do.

use std::process::ExitCode;

use clap::Parser;
use tests::rehearse::{Cli, run};
use tokio_util::sync::CancellationToken;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// It could not begin.
const UNUSABLE: u8 = 2;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let interrupt = CancellationToken::new();
    let on_ctrl_c = interrupt.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            eprintln!("ending early; the verdict is of what was seen");
            on_ctrl_c.cancel();
        }
    });
    let report = match run(&cli, interrupt, false).await {
        Ok(report) => report,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::from(UNUSABLE);
        }
    };
    match report.write(&cli) {
        Ok(()) => ExitCode::from(report.exit_code()),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(UNUSABLE)
        }
    }
}
