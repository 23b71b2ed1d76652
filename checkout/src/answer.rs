//! A decided answer: recorded in the transaction that decides, repeated byte for byte.

use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use shared::ids::ReservationId;
use shared::problem::{PROBLEM_JSON, Problem};

use crate::sale::Refusal;

/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Status and body of a decided answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    status: StatusCode,
    body: String,
    /// What was made by this request, if anything was.
    created: Option<ReservationId>,
    /// What metrics call it.
    label: &'static str,
}

/// An answer, and whether it was given before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Decided now.
    First(Answer),
    /// Decided by an earlier request with the same key.
    Replayed(Answer),
}

impl Answer {
    /// 201: a reservation was made.
    pub fn created(id: ReservationId, body: String) -> Self {
        Self { status: StatusCode::CREATED, body, created: Some(id), label: "created" }
    }

    /// 200.
    pub fn done(body: String) -> Self {
        Self { status: StatusCode::OK, body, created: None, label: "done" }
    }

    /// The problem that tells of a refusal.
    pub fn refused(refusal: Refusal) -> Self {
        let problem = Problem::from(refusal);
        let code = problem.code();
        Self { status: code.status(), body: problem.body(), created: None, label: code.as_str() }
    }

    /// 202: not decided yet; this is what is known.
    pub fn pending(id: ReservationId, body: String) -> Self {
        Self { status: StatusCode::ACCEPTED, body, created: Some(id), label: "pending" }
    }

    /// As it was recorded. None when it is not a status.
    pub fn recorded(status: i16, body: String) -> Option<Self> {
        let status = StatusCode::from_u16(status.try_into().ok()?).ok()?;
        Some(Self { status, body, created: None, label: "replayed" })
    }

    /// The status as it is recorded.
    pub fn status(&self) -> i16 {
        self.status.as_u16().try_into().expect("a status has three digits")
    }

    /// Whether it says that something was done, or is under way.
    pub fn is_success(&self) -> bool {
        self.status.is_success()
    }

    /// The body as it is recorded.
    pub fn body(&self) -> &str {
        &self.body
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let content_type = if self.status.is_success() {
            HeaderValue::from_static("application/json")
        } else {
            PROBLEM_JSON
        };
        let mut response = (self.status, self.body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, content_type);
        // It is one person's.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(id) = self.created {
            let location = format!("/v1/reservations/{id}");
            let location = location.try_into().expect("a path of plain ASCII is a header's value");
            headers.insert(LOCATION, location);
        }
        if self.status == StatusCode::ACCEPTED {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

impl Outcome {
    /// The same for another request with the same key.
    #[must_use]
    pub fn again(self) -> Self {
        match self {
            Self::First(answer) => {
                Self::Replayed(Answer { created: None, label: "replayed", ..answer })
            }
            Self::Replayed(answer) => Self::Replayed(answer),
        }
    }

    /// The answer.
    pub fn answer(&self) -> &Answer {
        match self {
            Self::First(answer) | Self::Replayed(answer) => answer,
        }
    }

    /// The same with this answer instead.
    #[must_use]
    pub fn with(self, answer: Answer) -> Self {
        match self {
            Self::First(_) => Self::First(answer),
            Self::Replayed(_) => Self::Replayed(answer),
        }
    }

    /// What metrics call it.
    pub fn label(&self) -> &'static str {
        match self {
            Self::First(answer) | Self::Replayed(answer) => answer.label,
        }
    }
}

impl IntoResponse for Outcome {
    fn into_response(self) -> Response {
        match self {
            Self::First(answer) => answer.into_response(),
            Self::Replayed(mut answer) => {
                // Nothing was created this time.
                if answer.status == StatusCode::CREATED {
                    answer.status = StatusCode::OK;
                }
                ([(REPLAYED, HeaderValue::from_static("true"))], answer).into_response()
            }
        }
    }
}
