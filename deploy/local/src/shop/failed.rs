//! What the shop's own server answers when something cannot be done, in the services' own form.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A problem, with a stable code and a sentence.
#[derive(Debug)]
pub(super) struct Failed {
    status: StatusCode,
    code: &'static str,
    detail: String,
}

impl Failed {
    /// 400: the request makes no sense.
    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code: "invalid_request", detail: detail.into() }
    }

    /// 403: not from here.
    pub(super) fn foreign() -> Self {
        let detail = "Only the shop's own pages may do this.".to_owned();
        Self { status: StatusCode::FORBIDDEN, code: "forbidden", detail }
    }

    /// 404: there is no such thing.
    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, code: "not_found", detail: detail.into() }
    }

    /// 409: not now.
    pub(super) fn conflict(detail: impl Into<String>) -> Self {
        Self { status: StatusCode::CONFLICT, code: "conflict", detail: detail.into() }
    }

    /// 502: a service did not do its part.
    pub(super) fn behind(detail: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_GATEWAY, code: "unavailable", detail: detail.into() }
    }

    /// The sentence.
    pub(super) fn detail(&self) -> &str {
        &self.detail
    }
}

impl From<reqwest::Error> for Failed {
    fn from(error: reqwest::Error) -> Self {
        // The address says which service it was; there is no secret in it.
        Self::behind(format!("No answer: {error}"))
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let Self { status, code, detail } = self;
        let title = status.canonical_reason().unwrap_or("Error");
        let body =
            json!({ "status": status.as_u16(), "title": title, "code": code, "detail": detail });
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        (status, kind, body.to_string()).into_response()
    }
}
