//! The supervisor in the background.

use std::fs::{self, File};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use local::leash::Signal;
use rustix::process::{Pid, kill_process};
use tokio::process::{Child, Command};
use tokio::time::sleep;

use crate::cli::Cli;
use crate::layout::Layout;
use crate::running;
use crate::say;
use crate::signals::Signals;

const INTERVAL: Duration = Duration::from_millis(50);

/// Starts the supervisor in the background, shows what it says, and returns when all is up.
pub(crate) async fn detach(cli: &Cli, layout: &Layout) -> anyhow::Result<()> {
    running::refuse_second(layout)?;
    let mut signals = Signals::new()?;
    fs::create_dir_all(&layout.root)
        .with_context(|| format!("cannot create {}", layout.root.display()))?;
    // The file that says that all is up may have been left by a supervisor that was killed.
    let _ = fs::remove_file(layout.env_file());
    let log = layout.supervisor_log();
    let mut child = spawn(cli, layout, File::create(&log)?)?;
    let mut shown = 0;
    loop {
        let up = layout.env_file().exists();
        shown = say::file_from(&log, shown)?;
        if up {
            return Ok(());
        }
        tokio::select! {
            status = child.wait() => {
                say::file_from(&log, shown)?;
                bail!("it did not start ({}); all it said is in {}", status?, log.display());
            }
            () = signals.shutdown() => return give_up(child).await,
            () = sleep(INTERVAL) => {}
        }
    }
}

async fn give_up(mut child: Child) -> anyhow::Result<()> {
    if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
        kill_process(pid, Signal::TERM)?;
        child.wait().await?;
    }
    bail!("interrupted before everything was up; everything was stopped")
}

fn spawn(cli: &Cli, layout: &Layout, log: File) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("--detached")
        .args(["--instances", &cli.instances.to_string()])
        .args(["--log", &cli.log])
        .arg("--directory")
        .arg(&layout.root)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    if cli.bench {
        command.arg("--bench");
    }
    if let Some(directory) = &cli.bin_dir {
        command.arg("--bin-dir").arg(directory);
    }
    command.spawn().context("cannot start the supervisor")
}
