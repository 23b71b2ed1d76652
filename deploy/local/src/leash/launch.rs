//! What to start.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;

use rustix::process::Signal;

use crate::account::Account;

/// A server to start: program, arguments, environment, and how to stop it.
#[derive(Debug)]
pub struct Launch {
    /// What it is called in messages.
    pub name: String,
    /// The program's path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Added to the environment of this process.
    pub env: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Takes its output; without one the output is thrown away.
    pub log: Option<File>,
    /// The signal that stops it in good order: TERM, INT, QUIT or KILL.
    pub stop_signal: Signal,
    /// The user it runs as, when that is another one than ours.
    pub(crate) account: Option<Account>,
}

impl Launch {
    /// A program without arguments, run in `/`, stopped by SIGTERM.
    pub fn new(name: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            directory: PathBuf::from("/"),
            log: None,
            stop_signal: Signal::TERM,
            account: None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: Into<OsString>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }
}
