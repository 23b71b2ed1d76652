//! `stanchion-local`: a private Postgres, a private Redis, both services, the sandbox provider and a demo
//! shop, started together and stopped together. `deploy/local.sh` builds and runs it.
//!
//! In the order in which things happen: [`cli`], [`running`] (one at a time), [`secrets`],
//! [`plan`] (ports and settings), [`stack`] (start, watch, stop), [`seed`] (the demo event),
//! [`env_file`] and [`summary`]; [`detach`] does all that in the background.

mod cli;
mod detach;
mod env_file;
mod layout;
mod plan;
mod running;
mod say;
mod secrets;
mod seed;
mod signals;
mod stack;
mod summary;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

use cli::Cli;
use layout::Layout;
use running::Running;
use signals::Signals;
use stack::Stack;

#[tokio::main]
async fn main() -> ExitCode {
    match command(&Cli::parse()).await {
        Ok(code) => code,
        Err(error) => {
            say::error(&error);
            ExitCode::FAILURE
        }
    }
}

async fn command(cli: &Cli) -> anyhow::Result<ExitCode> {
    let layout = Layout::new(cli.directory()?);
    if cli.stop {
        running::stop(&layout).await?;
    } else if cli.detach {
        detach::detach(cli, &layout).await?;
    } else {
        if cli.detached {
            // Out of the terminal's reach: neither its Ctrl-C nor its end concerns us.
            rustix::process::setsid().context("cannot start a session")?;
        }
        return supervise(cli, &layout).await;
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts everything, waits for a signal or for the death of a child, and stops everything.
async fn supervise(cli: &Cli, layout: &Layout) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::new()?;
    let running = Running::claim(layout)?;
    let mut stack = Stack::default();
    let ended = tokio::select! {
        ended = run(cli, layout, &mut stack) => ended,
        () = signals.shutdown() => Ok(()),
    };
    let code = match &ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::error(error);
            ExitCode::FAILURE
        }
    };
    say::step("stopping …");
    tokio::select! {
        () = stack.stop() => say::step("stopped"),
        // The leash still ends every child when this process does.
        () = signals.shutdown() => say::step("stopped without waiting"),
    }
    running.release();
    Ok(code)
}

/// Starts everything; then returns only when a child has died.
async fn run(cli: &Cli, layout: &Layout, stack: &mut Stack) -> anyhow::Result<()> {
    let addresses = stack.start(cli, layout).await?;
    summary::print(cli, layout, &addresses);
    env_file::write(&layout.env_file(), &addresses)?;
    Err(stack.watch().await)
}
