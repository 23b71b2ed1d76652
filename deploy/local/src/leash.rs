//! Child processes that cannot outlive this one.
//!
//! A server left behind by a killed test run or a killed supervisor holds ports, memory and a data
//! directory. Linux could tie a child's life to its parent's (`PR_SET_PDEATHSIG`), but only by
//! `unsafe` code between fork and exec, and the setting is lost when the child changes its user.
//! So each server runs under a few lines of shell (`leash.sh`) whose standard input is a pipe that
//! this process holds. However this process ends, `kill -9` included, the kernel closes the pipe,
//! and the shell stops the server: by its own stop signal first, by SIGKILL after five seconds. The
//! shell also exits when the server does, with its status, so that a death is seen here at once.
//!
//! Both run in a process group of their own: Ctrl-C in a terminal reaches the supervisor alone,
//! which then stops things in order. The shell runs as the server's user and may thus signal it.
//!
//! The pipe also closes when a [`Leash`] is dropped: dropping stops the server, without waiting.

mod exit;
mod launch;

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, kill_process};
use tokio::sync::watch;
use tokio::time::timeout;

pub use exit::Exit;
pub use launch::Launch;
pub use rustix::process::Signal;

use crate::processes;

const SCRIPT: &str = include_str!("leash.sh");

/// How long a killed process may take to be gone.
const KILL_WITHIN: Duration = Duration::from_secs(10);

/// A running server, or one that has ended.
#[derive(Debug)]
pub struct Leash {
    name: String,
    pid: Pid,
    stop_signal: Signal,
    ended: watch::Receiver<Option<Exit>>,
    /// Held open for as long as the server shall live.
    _line: Option<ChildStdin>,
}

impl Leash {
    /// Starts a server. That it runs says nothing about whether it is ready.
    ///
    /// # Errors
    /// When the shell cannot be started. A server that cannot be started ends with status 126 or
    /// 127 and a line in its log.
    pub fn spawn(launch: &Launch) -> anyhow::Result<Self> {
        let name = launch.name.clone();
        let mut shell = wrapped(launch)
            .and_then(|mut command| command.spawn())
            .with_context(|| format!("cannot start a shell for {name}"))?;
        let line = shell.stdin.take();
        let pid = server_pid(&mut shell).with_context(|| format!("{name} did not start"))?;
        let (told, ended) = watch::channel(None);
        // A plain thread and no tokio child: a server may outlive the runtime that started it.
        std::thread::Builder::new()
            .name(format!("{name} leash"))
            .spawn(move || told.send(Some(Exit::of(&shell.wait()))))?;
        Ok(Self { name, pid, stop_signal: launch.stop_signal, ended, _line: line })
    }

    /// The server's own process id (not the shell's).
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether the server has not ended yet.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// Waits until the server has ended, by itself or by one of the calls below.
    pub async fn ended(&self) -> Exit {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::UNKNOWN),
            Err(_) => Exit::UNKNOWN,
        }
    }

    /// Sends a signal to the server; nothing happens when it has ended.
    ///
    /// # Errors
    /// When the signal is refused.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        if !self.is_running() {
            return Ok(());
        }
        send(self.pid, signal).with_context(|| format!("cannot signal {}", self.name))
    }

    /// Asks the server to stop and waits until it has; kills it when it takes longer than `within`.
    ///
    /// # Errors
    /// When it had to be killed.
    pub async fn stop(&self, within: Duration) -> anyhow::Result<Exit> {
        self.signal(self.stop_signal)?;
        self.resume()?;
        match timeout(within, self.ended()).await {
            Ok(exit) => Ok(exit),
            Err(_) => {
                self.kill().await?;
                bail!("{} did not stop within {} s and was killed", self.name, within.as_secs())
            }
        }
    }

    /// Kills the server and all its children at once, as a crash would, and waits until all are
    /// gone. It is frozen first, so that it cannot start a child while its children are counted.
    ///
    /// # Errors
    /// When one of them is still there after ten seconds.
    pub async fn kill(&self) -> anyhow::Result<()> {
        let family = self.freeze()?;
        for pid in &family {
            send(*pid, Signal::KILL).with_context(|| format!("cannot kill {}", self.name))?;
        }
        processes::gone(&family, KILL_WITHIN).await?;
        timeout(KILL_WITHIN, self.ended())
            .await
            .with_context(|| format!("{} was killed, its shell is still there", self.name))?;
        Ok(())
    }

    /// Freezes the server and its children (SIGSTOP): connections stay open and nobody answers.
    ///
    /// # Errors
    /// When the signal is refused.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.freeze().map(drop)
    }

    /// Lets a frozen server go on (SIGCONT).
    ///
    /// # Errors
    /// When the signal is refused.
    pub fn resume(&self) -> anyhow::Result<()> {
        for pid in self.family() {
            send(pid, Signal::CONT).with_context(|| format!("cannot resume {}", self.name))?;
        }
        Ok(())
    }

    fn freeze(&self) -> anyhow::Result<Vec<Pid>> {
        self.signal(Signal::STOP)?;
        let family = self.family();
        for pid in &family {
            send(*pid, Signal::STOP).with_context(|| format!("cannot pause {}", self.name))?;
        }
        Ok(family)
    }

    /// The server and its children; empty when it has ended.
    fn family(&self) -> Vec<Pid> {
        if !self.is_running() {
            return Vec::new();
        }
        let mut family = processes::children_of(self.pid);
        family.push(self.pid);
        family
    }
}

/// `leash.sh` without its comments, which would fill the process list.
fn script() -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with('#');
    SCRIPT.lines().filter(is_code).fold(String::new(), |script, line| script + line + "\n")
}

/// The launch under `leash.sh`.
fn wrapped(launch: &Launch) -> std::io::Result<Command> {
    let log = match &launch.log {
        Some(log) => log.try_clone()?.into(),
        None => Stdio::null(),
    };
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &script(), "leash", signal_name(launch.stop_signal)])
        .arg(&launch.program)
        .args(&launch.args)
        .envs(launch.env.iter().map(|(key, value)| (key, value)))
        .current_dir(&launch.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .process_group(0);
    if let Some(account) = &launch.account {
        command.uid(account.uid).gid(account.gid);
    }
    Ok(command)
}

fn server_pid(shell: &mut Child) -> anyhow::Result<Pid> {
    let mut line = String::new();
    let output = shell.stdout.take().context("the shell has no output")?;
    BufReader::new(output).read_line(&mut line)?;
    let pid = line.trim().parse().context("the shell told no process id")?;
    Pid::from_raw(pid).context("the shell told process id 0")
}

/// Sends a signal; a process that is no longer there is no error.
fn send(pid: Pid, signal: Signal) -> anyhow::Result<()> {
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// As `kill -s` wants it.
fn signal_name(signal: Signal) -> &'static str {
    match signal {
        Signal::INT => "INT",
        Signal::QUIT => "QUIT",
        Signal::KILL => "KILL",
        _ => "TERM",
    }
}

#[cfg(test)]
mod tests;
