//! A private Redis.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{LOG_LINES, STOP_WITHIN, binaries, on_a_free_port, ready};
use crate::leash::{Exit, Launch, Leash};
use crate::logs;

/// How a Redis is started.
#[derive(Clone, Debug)]
pub struct RedisOptions {
    /// Whether writes are kept over a restart (an append-only file, flushed each second).
    pub append_only: bool,
    /// Further arguments (`["--maxmemory", "64mb"]`).
    pub args: Vec<String>,
    /// How long a start may take, reading its data included.
    pub start_within: Duration,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self { append_only: true, args: Vec::new(), start_within: Duration::from_secs(30) }
    }
}

/// A running Redis of our own; stopped when it is dropped.
#[derive(Debug)]
pub struct Redis {
    directory: PathBuf,
    options: RedisOptions,
    port: u16,
    version: String,
    leash: Leash,
}

impl Redis {
    /// Starts a Redis on a free loopback port, with its data and log in `directory`, and waits
    /// until it answers. It never evicts a key (`noeviction`).
    ///
    /// # Errors
    /// When Redis is not installed, does not start (with the end of its log), or does not answer in
    /// time.
    pub async fn start(directory: &Path, options: RedisOptions) -> anyhow::Result<Self> {
        let directory = std::path::absolute(directory)?;
        let started = on_a_free_port(async |port| launch(&directory, &options, port).await);
        let (port, (leash, version)) = started.await.context("Redis did not start")?;
        Ok(Self { directory, options, port, version, leash })
    }

    /// The server's address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The port, which stays the same over restarts.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The server's version, such as `7.0.15`.
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
        logs::tail(&log_file(&self.directory), LOG_LINES)
    }

    /// Waits until the server has ended.
    pub async fn ended(&self) -> Exit {
        self.leash.ended().await
    }

    /// Stops the server in good order: everything is written.
    ///
    /// # Errors
    /// When it had to be killed.
    pub async fn stop(&self) -> anyhow::Result<()> {
        self.leash.stop(STOP_WITHIN).await.map(drop)
    }

    /// Kills the server, as a crash would.
    ///
    /// # Errors
    /// When it does not die.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.leash.kill().await
    }

    /// Freezes the server: connections stay open and nobody answers.
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
        let started = launch(&self.directory, &self.options, self.port).await;
        let (leash, _) = started.context("Redis did not start again")?;
        self.leash = leash;
        Ok(())
    }
}

/// Starts the server and waits until it answers with its version.
async fn launch(
    directory: &Path,
    options: &RedisOptions,
    port: u16,
) -> anyhow::Result<(Leash, String)> {
    let log = log_file(directory);
    let file = logs::append(&log)?;
    let append_only = if options.append_only { "yes" } else { "no" };
    let mut launch = Launch::new("redis", binaries::find("redis-server")?)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
        .args(["--dir".into(), directory.as_os_str().to_owned()])
        .args(["--appendonly", append_only, "--appendfsync", "everysec", "--save", ""])
        .args(["--maxmemory-policy", "noeviction"])
        .args(&options.args);
    launch.log = Some(file);

    let leash = Leash::spawn(&launch)?;
    let pid = leash.pid();
    let probe = async || version(port, pid).await;
    let version = ready(&leash, options.start_within, &log, probe).await?;
    Ok((leash, version))
}

fn log_file(directory: &Path) -> PathBuf {
    directory.join("server.log")
}

/// Asks the server on `port` for its version, and makes sure that it is process `pid` and has read
/// its data: another may have got the port first.
async fn version(port: u16, pid: u32) -> anyhow::Result<String> {
    let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
    server.write_all(b"INFO server\r\nPING\r\nQUIT\r\n").await?;
    let mut answer = String::new();
    server.read_to_string(&mut answer).await?;

    let field =
        |name: &str| answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    ensure!(field("process_id") == Some(&pid.to_string()), "port {port} belongs to another server");
    ensure!(answer.contains("+PONG"), "it is reading its data");
    Ok(field("redis_version").unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests;
