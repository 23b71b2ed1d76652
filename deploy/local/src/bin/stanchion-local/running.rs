//! One supervisor a directory.
//!
//! A running supervisor holds a lock on `.local/lock`. The kernel lets go of it when the process
//! ends, however it ends, so that no pid file can be mistaken: `.local/pid` only says whom to
//! signal, and is believed only while the lock is held.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use local::leash::Signal;
use local::wait;
use rustix::process::{Pid, kill_process};

use crate::layout::Layout;
use crate::say;

/// Longer than services and stores may take together.
const STOP_WITHIN: Duration = Duration::from_secs(120);

/// How soon after taking the lock a supervisor has written its process id.
const PID_WITHIN: Duration = Duration::from_secs(5);

/// Held by the one supervisor of a directory.
#[derive(Debug)]
pub(crate) struct Running {
    _lock: File,
    files: [PathBuf; 2],
}

impl Running {
    /// Takes the directory, and clears what a killed supervisor has left in it.
    pub(crate) fn claim(layout: &Layout) -> anyhow::Result<Self> {
        fs::create_dir_all(&layout.root)
            .with_context(|| format!("cannot create {}", layout.root.display()))?;
        let Some(lock) = try_lock(&layout.lock_file())? else {
            return Err(refusal(layout));
        };
        let running = Self { _lock: lock, files: [layout.env_file(), layout.pid_file()] };
        running.remove_files();
        fs::write(layout.pid_file(), format!("{}\n", std::process::id()))?;
        Ok(running)
    }

    /// Gives the directory back.
    pub(crate) fn release(self) {
        self.remove_files();
    }

    fn remove_files(&self) {
        for file in &self.files {
            // Not there is as good as removed.
            let _ = fs::remove_file(file);
        }
    }
}

/// Fails when a supervisor runs, and says where it is.
pub(crate) fn refuse_second(layout: &Layout) -> anyhow::Result<()> {
    if is_running(layout)? { Err(refusal(layout)) } else { Ok(()) }
}

/// Asks the running supervisor to stop, and waits until it has.
pub(crate) async fn stop(layout: &Layout) -> anyhow::Result<()> {
    if !is_running(layout)? {
        say::step("not running");
        return Ok(());
    }
    let pid = wait::until(PID_WITHIN, async || pid(layout)).await?;
    kill_process(pid, Signal::TERM).with_context(|| format!("cannot signal process {pid:?}"))?;
    wait::until(STOP_WITHIN, async || {
        ensure!(!is_running(layout)?, "process {} is still running", pid.as_raw_nonzero());
        Ok(())
    })
    .await?;
    say::step("stopped");
    Ok(())
}

fn is_running(layout: &Layout) -> anyhow::Result<bool> {
    let lock = layout.lock_file();
    Ok(lock.exists() && try_lock(&lock)?.is_none())
}

fn refusal(layout: &Layout) -> anyhow::Error {
    let who = match pid(layout) {
        Ok(pid) => format!("already running (process {})", pid.as_raw_nonzero()),
        Err(_) => "already starting".to_owned(),
    };
    let env = layout.env_file();
    anyhow::anyhow!("{who}; its addresses are in {}; stop it with --stop", env.display())
}

fn pid(layout: &Layout) -> anyhow::Result<Pid> {
    let file = layout.pid_file();
    let text = fs::read_to_string(&file).with_context(|| format!("no {}", file.display()))?;
    Pid::from_raw(text.trim().parse()?).context("process id 0")
}

/// The locked file, or nothing when somebody else has locked it.
fn try_lock(path: &Path) -> anyhow::Result<Option<File>> {
    let file = File::options()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => bail!("cannot lock {}: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_one_at_a_time_and_a_stale_pid_file_does_not_count() {
        let root = std::env::temp_dir().join(format!("stanchion-{}", uuid::Uuid::new_v4()));
        let layout = Layout::new(root.clone());
        fs::create_dir_all(&root).unwrap();
        // Left by a killed supervisor; the number now belongs to this very process.
        fs::write(layout.pid_file(), std::process::id().to_string()).unwrap();
        stop(&layout).await.unwrap();

        let first = Running::claim(&layout).unwrap();
        let told = Running::claim(&layout).unwrap_err().to_string();
        assert!(told.contains(&format!("process {}", std::process::id())), "{told}");
        assert!(refuse_second(&layout).is_err());

        first.release();
        assert!(!layout.pid_file().exists());
        Running::claim(&layout).unwrap().release();
        fs::remove_dir_all(&root).unwrap();
    }
}
