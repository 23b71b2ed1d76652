//! How a server ended.

use std::fmt;
use std::io;
use std::process::ExitStatus;

/// How a server ended, in words by `Display`: "exited with status 1".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The status it exited with; 128 and the signal's number when a signal ended it; `None` when
    /// nobody could tell.
    pub code: Option<i32>,
}

impl Exit {
    pub(super) const UNKNOWN: Self = Self { code: None };

    pub(super) fn of(status: &io::Result<ExitStatus>) -> Self {
        Self { code: status.as_ref().ok().and_then(ExitStatus::code) }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) if code > 128 => write!(out, "was ended by signal {}", code - 128),
            Some(code) => write!(out, "exited with status {code}"),
            None => write!(out, "is gone"),
        }
    }
}
