//! Rehearses a sale over HTTP, with people who behave as people do.

use std::process::ExitCode;

use clap::Parser;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tests::rehearse::{Cli, run};
use tokio_util::sync::CancellationToken;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// It could not begin.
const UNUSABLE: u8 = 2;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    open_many_files();
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

/// Each connection is an open file, and the usual soft limit is 1,024. As many as the system allows; with
/// fewer it shows in the report as requests without an answer.
fn open_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // It is lowered by nobody, so there is nothing to lose when it stays as it is.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
