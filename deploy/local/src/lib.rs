//! A private Postgres, a private Redis and the services as child processes: what
//! `deploy/local.sh` runs for a person and what the tests run for themselves.
//!
//! - [`stores`]: [`stores::Postgres`] and [`stores::Redis`]: start, stop, crash, restart
//! - [`service`]: a service binary, started and waited for until it is ready
//! - [`shop`]: the demo shop, its provider panel and its self-check
//! - [`leash`]: no child outlives its parent, however the parent dies
//! - [`ports`], [`wait`], [`logs`]: free ports, waiting with a deadline, the end of a log
//!
//! Everything stops when it is dropped (see [`leash`]), so that a test that panics leaves nothing
//! running. Nothing here is bound to the tokio runtime that started it: a store may be kept in a
//! `static` and used from many tests, each with its own runtime.

mod account;
pub mod leash;
pub mod logs;
pub mod ports;
mod processes;
pub mod service;
pub mod shop;
pub mod stores;
pub mod wait;

/// Makes a directory of its own for a test.
#[cfg(test)]
mod scratch {
    use std::path::{Path, PathBuf};

    /// A directory under the system's temporary one, removed at the end.
    pub(crate) struct Scratch(PathBuf);

    impl Scratch {
        pub(crate) fn new() -> Self {
            let path = std::env::temp_dir().join(format!("stanchion-{}", uuid::Uuid::new_v4()));
            std::fs::create_dir_all(&path).expect("the temporary directory takes a new one");
            Self(path)
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            // Best effort: a server on its way out may still be writing here.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
