//! What went wrong inside, and what the caller is told about it.

use axum::response::{IntoResponse, Response};
use shared::admission::KeyError;
use shared::problem::{Code, Problem};
use shared::redis::RedisError;

use crate::queue::InvalidSettings;

/// Any failure of a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The answer is ready.
    #[error("{0:?}")]
    Problem(Problem),
    /// Redis did not answer.
    #[error(transparent)]
    Store(#[from] RedisError),
    /// A token or ticket could not be signed.
    #[error(transparent)]
    Signing(#[from] KeyError),
    /// A ticket could not be signed.
    #[error(transparent)]
    Ticket(#[from] jsonwebtoken::errors::Error),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<InvalidSettings> for Error {
    fn from(invalid: InvalidSettings) -> Self {
        Problem::invalid_request(format!("{invalid}.")).into()
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::Store(error) => {
                tracing::warn!(error = %error, "the store did not answer");
                Problem::unavailable().into_response()
            }
            error @ (Self::Signing(_) | Self::Ticket(_)) => {
                tracing::error!(error = %error, "not signed");
                Problem::internal().into_response()
            }
        }
    }
}

/// 404: there is no such event.
pub(crate) fn no_event() -> Error {
    Problem::not_found().into()
}

/// 401: no ticket, or one that does not hold here.
pub(crate) fn no_ticket() -> Error {
    Problem::new(
        Code::InvalidToken,
        "There is no queue ticket for this event with the request, or it is not valid: join first.",
    )
    .into()
}
