//! The first start of a Postgres directory.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, bail};
use tokio::process::Command;

use super::binaries;
use super::postgres::USER;
use crate::account::Account;

/// Makes the cluster `home/data` unless it is there.
///
/// It is made beside its place and renamed: a run that was cut off leaves no half of it.
pub(super) async fn once(home: &Path, account: Option<Account>) -> anyhow::Result<()> {
    let (data, unfinished) = (home.join("data"), home.join("data.new"));
    if data.join("PG_VERSION").exists() {
        return Ok(());
    }
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)
            .with_context(|| format!("cannot clear {}", unfinished.display()))?;
    }
    run(&unfinished, account).await?;
    fs::rename(&unfinished, &data)?;
    Ok(())
}

async fn run(data: &Path, account: Option<Account>) -> anyhow::Result<()> {
    let mut command = std::process::Command::new(binaries::find("initdb")?);
    command
        .args(["--no-sync", "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C", "-D"])
        .arg(data)
        .current_dir("/")
        .stdin(Stdio::null());
    if let Some(account) = account {
        command.uid(account.uid).gid(account.gid);
    }
    let output = Command::from(command).kill_on_drop(true).output().await?;
    if !output.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
