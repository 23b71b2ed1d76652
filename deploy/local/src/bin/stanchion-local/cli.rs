//! The command line.

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;

/// Runs Stanchion on this machine: a private Postgres and Redis, both services, a demo event and a
/// demo shop. Ctrl-C stops everything.
#[derive(Debug, Parser)]
#[command(name = "stanchion-local")]
pub(crate) struct Cli {
    /// Run in the background: return when everything is up
    #[arg(long)]
    pub(crate) detach: bool,

    /// Stop what runs in the background
    #[arg(long, conflicts_with = "detach")]
    pub(crate) stop: bool,

    /// How many waiting rooms and how many checkouts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) instances: u8,

    /// Lift the limits per user and per address, so that a few clients can make a load
    #[arg(long)]
    pub(crate) bench: bool,

    /// Where data, secrets and logs are kept [default: .local of the repository]
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,

    /// Where the service binaries are [default: beside this one]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) bin_dir: Option<PathBuf>,

    /// What the services log, as in `info,checkout=debug`
    #[arg(long, env = "STANCHION_LOG", value_name = "FILTER", default_value = "info")]
    pub(crate) log: String,

    /// Set by --detach for the process in the background
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

impl Cli {
    /// The directory given, else `.local` of the repository that this binary was built in, else
    /// `.local` here.
    pub(crate) fn directory(&self) -> anyhow::Result<PathBuf> {
        let directory = match &self.directory {
            Some(directory) => directory.clone(),
            None => {
                let exe = std::env::current_exe()?;
                let repository =
                    exe.ancestors().find(|place| place.join("deploy/local.sh").is_file());
                repository.map_or_else(|| ".local".into(), |place| place.join(".local"))
            }
        };
        Ok(std::path::absolute(directory)?)
    }

    /// A service's binary.
    pub(crate) fn binary(&self, name: &str) -> anyhow::Result<PathBuf> {
        let directory = match &self.bin_dir {
            Some(directory) => std::path::absolute(directory)?,
            None => std::env::current_exe()?.parent().context("no directory")?.to_owned(),
        };
        let binary = directory.join(name);
        anyhow::ensure!(binary.is_file(), "there is no {}: build it first", binary.display());
        Ok(binary)
    }
}
