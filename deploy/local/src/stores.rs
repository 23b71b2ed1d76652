//! The two stores, private to one directory, on a loopback port of their own.

mod binaries;
mod database;
mod initdb;
mod postgres;
mod redis;

use std::path::Path;
use std::time::Duration;

use anyhow::bail;

pub use postgres::{Postgres, PostgresOptions};
pub use redis::{Redis, RedisOptions};

use crate::leash::Leash;
use crate::{logs, ports, wait};

/// How many ports are tried when another program takes each of them first.
const PORT_ATTEMPTS: usize = 5;

/// How long a store may take to stop in good order; it writes what is in memory.
const STOP_WITHIN: Duration = Duration::from_secs(30);

/// How much of a log is shown when a store does not start.
const LOG_LINES: usize = 20;

/// Starts a server on free ports until none is lost to somebody else between picking and binding.
async fn on_a_free_port<T>(
    mut start: impl AsyncFnMut(u16) -> anyhow::Result<T>,
) -> anyhow::Result<(u16, T)> {
    let mut attempt = 1;
    loop {
        let port = ports::free()?;
        match start(port).await {
            Ok(started) => return Ok((port, started)),
            Err(_) if attempt < PORT_ATTEMPTS && !ports::is_free(port) => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Waits until `probe` succeeds; fails at once, with the end of the log, when the server ends.
async fn ready<T>(
    leash: &Leash,
    within: Duration,
    log: &Path,
    probe: impl AsyncFnMut() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let error = tokio::select! {
        biased;
        exit = leash.ended() => anyhow::anyhow!("it {exit}"),
        answer = wait::until(within, probe) => match answer {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        },
    };
    bail!("{error:#}; the end of {}:\n{}", log.display(), logs::tail(log, LOG_LINES))
}
