//! Error answers: RFC 9457 `application/problem+json` with a stable `code`.
//!
//! This is the only place that maps a code to a status. `detail` is written for the caller: it
//! never holds SQL, paths or another person's data. What went wrong inside is logged instead.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The stable names of what can go wrong: part of the contract, never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is documented by its title below")]
pub enum Code {
    IdempotencyKeyMissing,
    InvalidRequest,
    InvalidToken,
    NotAdmitted,
    AccessCode,
    ReadOnly,
    CrossSite,
    NotFound,
    MethodNotAllowed,
    NotReady,
    Closed,
    SoldOut,
    PurchaseLimit,
    InvalidTransition,
    HoldExpired,
    Missed,
    PayloadTooLarge,
    UnsupportedMediaType,
    IdempotencyKeyReused,
    InvalidQuantity,
    RateLimited,
    QueueFull,
    Internal,
    Unavailable,
    Draining,
}

impl Code {
    fn parts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::IdempotencyKeyMissing => {
                (S::BAD_REQUEST, "idempotency_key_missing", "Idempotency-Key is missing")
            }
            Self::InvalidRequest => (S::BAD_REQUEST, "invalid_request", "Invalid request"),
            Self::InvalidToken => (S::UNAUTHORIZED, "invalid_token", "Token missing or invalid"),
            Self::NotAdmitted => (S::FORBIDDEN, "not_admitted", "Not admitted"),
            Self::AccessCode => (S::FORBIDDEN, "access_code", "An access code is needed"),
            Self::ReadOnly => (S::FORBIDDEN, "read_only", "This token may only read"),
            Self::CrossSite => (S::FORBIDDEN, "cross_site", "Not from this service's own page"),
            Self::NotFound => (S::NOT_FOUND, "not_found", "Not found"),
            Self::MethodNotAllowed => {
                (S::METHOD_NOT_ALLOWED, "method_not_allowed", "Method not allowed")
            }
            Self::NotReady => (S::CONFLICT, "not_ready", "Not your turn yet"),
            Self::Closed => (S::CONFLICT, "closed", "The waiting room is closed"),
            Self::SoldOut => (S::CONFLICT, "sold_out", "Sold out"),
            Self::PurchaseLimit => (S::CONFLICT, "purchase_limit", "Purchase limit reached"),
            Self::InvalidTransition => {
                (S::CONFLICT, "invalid_transition", "Not possible in this state")
            }
            Self::HoldExpired => (S::GONE, "hold_expired", "The hold has ended"),
            Self::Missed => (S::GONE, "missed", "The turn was missed"),
            Self::PayloadTooLarge => {
                (S::PAYLOAD_TOO_LARGE, "payload_too_large", "Request body too large")
            }
            Self::UnsupportedMediaType => (
                S::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "Content-Type must be application/json",
            ),
            Self::IdempotencyKeyReused => (
                S::UNPROCESSABLE_ENTITY,
                "idempotency_key_reused",
                "Idempotency-Key was used for another request",
            ),
            Self::InvalidQuantity => {
                (S::UNPROCESSABLE_ENTITY, "invalid_quantity", "Invalid quantity")
            }
            Self::RateLimited => (S::TOO_MANY_REQUESTS, "rate_limited", "Too many requests"),
            Self::QueueFull => (S::TOO_MANY_REQUESTS, "queue_full", "The queue is full"),
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal", "Internal error"),
            Self::Unavailable => (S::SERVICE_UNAVAILABLE, "unavailable", "Try again shortly"),
            Self::Draining => (S::SERVICE_UNAVAILABLE, "draining", "Shutting down"),
        }
    }

    /// The HTTP status this code is answered with.
    pub fn status(self) -> StatusCode {
        self.parts().0
    }

    /// What it means, in a few words.
    pub fn title(self) -> &'static str {
        self.parts().2
    }

    /// The code as it stands on the wire.
    pub fn as_str(self) -> &'static str {
        self.parts().1
    }
}

/// One error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    code: Code,
    status: StatusCode,
    detail: Cow<'static, str>,
    retry_after_seconds: Option<u64>,
}

impl Problem {
    /// A problem with a sentence that tells the caller what to do about it.
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { code, status: code.status(), detail: detail.into(), retry_after_seconds: None }
    }

    /// Says when to come back: `Retry-After` in seconds, at least 1.
    #[must_use]
    pub fn retry_after_seconds(mut self, seconds: u64) -> Self {
        self.retry_after_seconds = Some(seconds.max(1));
        self
    }

    /// Answers with another status than the code's usual one, where the contract says so.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// 400: the request is malformed.
    pub fn invalid_request(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::InvalidRequest, detail)
    }

    /// 404, the same for what is unknown and for what belongs to somebody else.
    pub fn not_found() -> Self {
        Self::new(Code::NotFound, "There is nothing here under that name.")
    }

    /// 503 with `Retry-After: 1`: a store did not answer.
    pub fn unavailable() -> Self {
        Self::new(Code::Unavailable, "The service cannot decide right now. Nothing was changed.")
            .retry_after_seconds(1)
    }

    /// 500. The reason belongs in the log, not in the answer.
    pub fn internal() -> Self {
        Self::new(Code::Internal, "Something went wrong on our side.")
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The body, as it is sent and as an idempotent replay repeats it.
    pub fn body(&self) -> String {
        let (_, code, title) = self.code.parts();
        serde_json::to_string(&Body {
            kind: format!("urn:stanchion:problem:{code}"),
            title,
            status: self.status.as_u16(),
            detail: &self.detail,
            code,
        })
        .expect("a struct of strings and a number is always JSON")
    }
}

/// An error answer (RFC 9457).
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
struct Body<'a> {
    /// Names the kind of problem: `urn:stanchion:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// The same for every problem of that code.
    title: &'static str,
    /// The HTTP status of this answer.
    status: u16,
    /// What to do about it, for whoever called.
    detail: &'a str,
    /// The stable name of what went wrong: part of the contract, never renamed.
    code: &'static str,
}

/// The name of an error answer's schema in the document.
pub(crate) const SCHEMA_NAME: &str = "Problem";

/// An error answer's schema.
pub(crate) fn schema() -> RefOr<Schema> {
    Body::schema()
}

/// The media type of every error answer.
pub const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// `axum::Json` whose rejection is a [`Problem`].
#[derive(Debug, Clone, Copy, FromRequest)]
#[from_request(via(axum::Json), rejection(Problem))]
pub struct Json<T>(pub T);

/// `axum::extract::Path` whose rejection is a [`Problem`].
#[derive(Debug, Clone, Copy, FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub struct Path<T>(pub T);

/// `axum::extract::Query` whose rejection is a [`Problem`].
#[derive(Debug, Clone, Copy, FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
pub struct Query<T>(pub T);

/// A JSON object, or no body at all, which is the same as an empty object. A plain POST without a body needs no
/// media type; but none of those that a form has is taken, for a form is sent by any page in anybody's name.
#[derive(Debug, Clone, Copy)]
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if is_sent_by_a_form(request.headers()) {
            return Err(not_json());
        }
        let body = Bytes::from_request(request, state).await?;
        if body.is_empty() {
            return Ok(Self(T::default()));
        }
        // The library reads a list of fields as an object too.
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(Problem::invalid_request("The body must be a JSON object."));
        }
        match serde_json::from_slice(&body) {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(Problem::invalid_request(format!("{error}."))),
        }
    }
}

/// The three media types that an HTML form can have, whatever page it stands on.
fn is_sent_by_a_form(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]
        .iter()
        .any(|form| kind.eq_ignore_ascii_case(form))
}

fn not_json() -> Problem {
    let detail = "Send the body as JSON, with Content-Type: application/json.";
    Problem::new(Code::UnsupportedMediaType, detail)
}

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                Self::new(Code::PayloadTooLarge, "The request body is larger than is accepted.")
            }
            _ => Self::invalid_request("The request body could not be read."),
        }
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                Self::new(Code::PayloadTooLarge, "The request body is larger than is accepted.")
            }
            StatusCode::UNSUPPORTED_MEDIA_TYPE => not_json(),
            _ => Self::invalid_request(rejection.body_text()),
        }
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::invalid_request(rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::invalid_request(rejection.body_text())
    }
}
