//! A private Postgres.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use super::{LOG_LINES, STOP_WITHIN, binaries, database, initdb, on_a_free_port, ready};
use crate::account::{self, Account};
use crate::leash::{Exit, Launch, Leash, Signal};
use crate::{logs, processes};

/// The superuser; he needs no password.
pub(super) const USER: &str = "stanchion";

/// How a Postgres is started.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// The database that is created at the first start and that [`Postgres::url`] names.
    pub database: String,
    /// `max_connections`.
    pub connections_max: u16,
    /// Further settings (`postgres -c name=value`). Durability is as Postgres ships it:
    /// `fsync` and `synchronous_commit` are on unless they are turned off here.
    pub settings: Vec<(String, String)>,
    /// How long a start may take, recovery after a crash included.
    pub start_within: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            database: "stanchion".to_owned(),
            connections_max: 200,
            settings: Vec::new(),
            start_within: Duration::from_secs(60),
        }
    }
}

/// A running Postgres of our own; stopped when it is dropped.
#[derive(Debug)]
pub struct Postgres {
    home: PathBuf,
    account: Option<Account>,
    options: PostgresOptions,
    port: u16,
    version: String,
    leash: Leash,
}

impl Postgres {
    /// Starts a Postgres on a free loopback port, with its data and log under `data_dir`, and waits
    /// until it answers. The directory is set up at the first start and used again later.
    ///
    /// As root it runs as the user `postgres` or `nobody`. When that user cannot reach `data_dir`,
    /// the data is under `/var/tmp` and `data_dir` is a symbolic link to it.
    ///
    /// # Errors
    /// When Postgres is not installed, does not start (with the end of its log), or does not answer
    /// in time.
    pub async fn start(data_dir: &Path, options: PostgresOptions) -> anyhow::Result<Self> {
        let account = Account::for_postgres()?;
        let home = account::private_directory(data_dir, account)?;
        initdb::once(&home, account).await?;
        let started = on_a_free_port(async |port| launch(&home, account, &options, port).await);
        let (port, (leash, version)) = started.await.context("Postgres did not start")?;
        database::create(port, &options.database, None).await?;
        Ok(Self { home, account, options, port, version, leash })
    }

    /// The address of the database named in the options.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_for(&self.options.database)
    }

    /// The address of another database on this server.
    #[must_use]
    pub fn url_for(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    /// The address of the maintenance database `postgres`.
    #[must_use]
    pub fn admin_url(&self) -> String {
        self.url_for("postgres")
    }

    /// The port, which stays the same over restarts.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The server's version, such as `15.14`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The server's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.leash.pid()
    }

    /// The last lines of the server's log.
    #[must_use]
    pub fn log_tail(&self) -> String {
        logs::tail(&log_file(&self.home), LOG_LINES)
    }

    /// Creates a database, as a copy of `template` when one is given; nothing happens when there is
    /// one of that name. The template must have no connections.
    ///
    /// # Errors
    /// When the name is not of `a-z`, `0-9` and `_`, or the server refuses.
    pub async fn create_database(&self, name: &str, template: Option<&str>) -> anyhow::Result<()> {
        database::create(self.port, name, template).await
    }

    /// Waits until the server has ended.
    pub async fn ended(&self) -> Exit {
        self.leash.ended().await
    }

    /// Stops the server in good order: connections are cut, everything is written.
    ///
    /// # Errors
    /// When it had to be killed.
    pub async fn stop(&self) -> anyhow::Result<()> {
        self.leash.stop(STOP_WITHIN).await.map(drop)
    }

    /// Kills the server and all its backends, as a crash would.
    ///
    /// # Errors
    /// When they do not die.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.leash.kill().await
    }

    /// Freezes the server and its backends: connections stay open and nobody answers.
    ///
    /// # Errors
    /// When the signal is refused.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.leash.pause()
    }

    /// Lets a paused server go on.
    ///
    /// # Errors
    /// When the signal is refused.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.leash.resume()
    }

    /// Starts the server again on the same port and data, after a stop, a kill, or as it runs.
    ///
    /// # Errors
    /// As [`Self::start`], and when another program has taken the port meanwhile.
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        self.stop().await?;
        let started = launch(&self.home, self.account, &self.options, self.port).await;
        let (leash, _) = started.context("Postgres did not start again")?;
        self.leash = leash;
        Ok(())
    }
}

/// Starts the server and waits until it answers with its version.
async fn launch(
    home: &Path,
    account: Option<Account>,
    options: &PostgresOptions,
    port: u16,
) -> anyhow::Result<(Leash, String)> {
    let data = home.join("data");
    // Backends of a killed server still hold its shared memory, and a server whose supervisor was
    // killed is still stopping; with either of them there a start would be refused.
    processes::gone(&processes::named_in("postgres", &data), options.start_within)
        .await
        .with_context(|| format!("another Postgres works in {}", data.display()))?;
    forget_stale_pid(&data)?;

    let mut launch = Launch::new("postgres", binaries::find("postgres")?)
        .args(["-D".into(), data.clone().into_os_string()])
        .args(["-p", &port.to_string()])
        .args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="])
        .args(["-c", &format!("max_connections={}", options.connections_max)]);
    for (name, value) in &options.settings {
        launch = launch.args(["-c", &format!("{name}={value}")]);
    }
    let log = log_file(home);
    launch.log = Some(logs::append(&log)?);
    launch.stop_signal = Signal::INT;
    launch.account = account;

    let leash = Leash::spawn(&launch)?;
    let probe = async || database::version(port, &data).await;
    let version = ready(&leash, options.start_within, &log, probe).await?;
    Ok((leash, version))
}

fn log_file(home: &Path) -> PathBuf {
    home.join("server.log")
}

/// Removes the pid file of a server that was killed. Postgres would do so itself, unless the number
/// has gone to another process meanwhile. No server of this directory is running at this point, as
/// far as that can be known: without `/proc` the file stays.
fn forget_stale_pid(data: &Path) -> anyhow::Result<()> {
    if !processes::are_known() {
        return Ok(());
    }
    match std::fs::remove_file(data.join("postmaster.pid")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).context("cannot remove the pid file of the Postgres before")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
