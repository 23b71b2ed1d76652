//! What is where under `.local`.

use std::path::PathBuf;

/// The directory that holds everything, and the names in it.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
}

impl Layout {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Addresses and tokens for scripts; there while everything runs.
    pub(crate) fn env_file(&self) -> PathBuf {
        self.root.join("env")
    }

    /// The supervisor's process id; there while it runs.
    pub(crate) fn pid_file(&self) -> PathBuf {
        self.root.join("pid")
    }

    /// Locked while a supervisor runs.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }

    pub(crate) fn secrets(&self) -> PathBuf {
        self.root.join("secrets")
    }

    pub(crate) fn postgres(&self) -> PathBuf {
        self.root.join("postgres")
    }

    pub(crate) fn redis(&self) -> PathBuf {
        self.root.join("redis")
    }

    /// The log of a service, or of the supervisor itself when it runs in the background.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.root.join("logs").join(format!("{name}.log"))
    }

    pub(crate) fn supervisor_log(&self) -> PathBuf {
        self.root.join("supervisor.log")
    }
}
