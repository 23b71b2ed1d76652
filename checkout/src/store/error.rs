//! What can come of asking the store. The texts are for logs: they may name tables, and are never
//! shown to a caller.

use sqlx::Error;

use super::admin::Rejected;
use crate::sale::Refusal;

/// Why the store gave no result.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A rule of the sale says no. Everything was rolled back.
    #[error("refused: {0:?}")]
    Refused(Refusal),
    /// An operator's change cannot be made. Everything was rolled back.
    #[error("rejected: {0}")]
    Rejected(Rejected),
    /// Another request with the same idempotency key was decided first.
    #[error("the idempotency key was decided by another request")]
    KeyTaken,
    /// Postgres ended the transaction for the sake of another one. It may be run again.
    #[error("serialization failure or deadlock")]
    Conflict,
    /// Postgres could not be asked, or not in time. Nothing was changed.
    #[error("Postgres: unavailable ({0:?})")]
    Unavailable(Option<Error>),
    /// The connection broke at the commit: it may have happened or not.
    #[error("Postgres: the outcome of a commit is not known")]
    OutcomeUnknown,
    /// A bug, or a schema that is not ours.
    #[error("Postgres: unexpected: {0}")]
    Unexpected(Error),
}

impl StoreError {
    /// What an error means when it is the answer to COMMIT.
    pub(super) fn at_commit(error: Error) -> Self {
        match Self::from(error) {
            // The server has said no, and why.
            decided @ (Self::Conflict | Self::Unexpected(Error::Database(_))) => decided,
            // No answer, or a server that was going down while it committed.
            undecided => {
                tracing::error!(error = %undecided, "a commit's outcome is not known");
                Self::OutcomeUnknown
            }
        }
    }

    /// Whether it is about what was to be done, and not about the database's being there.
    pub fn is_unexpected(&self) -> bool {
        matches!(self, Self::Unexpected(_))
    }

    /// Whether a unique constraint stood against it.
    pub fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Unexpected(Error::Database(error)) if error.is_unique_violation())
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match &error {
            Error::Io(_)
            | Error::Tls(_)
            | Error::Protocol(_)
            | Error::PoolTimedOut
            | Error::PoolClosed
            | Error::WorkerCrashed => Self::Unavailable(Some(error)),
            Error::Database(database) => match database.code().as_deref().unwrap_or_default() {
                "40001" | "40P01" => Self::Conflict,
                code if is_passing(code) => Self::Unavailable(Some(error)),
                _ => Self::Unexpected(error),
            },
            _ => Self::Unexpected(error),
        }
    }
}

/// SQLSTATEs that say nothing about the statement: it may go well a moment later.
fn is_passing(code: &str) -> bool {
    // Waited too long for a lock, ended by a timeout, a standby that is not promoted yet.
    const CODES: [&str; 4] = ["55P03", "57014", "25P03", "25006"];
    // Connection, resources, shutting down or starting up, system.
    const CLASSES: [&str; 4] = ["08", "53", "57", "58"];
    CODES.contains(&code) || CLASSES.iter().any(|class| code.starts_with(class))
}
