//! A client that sees what was answered, and nothing else.

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// One answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    /// The body, to the byte.
    pub text: String,
}

impl Answer {
    /// The body as JSON; `null` when it is not.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    /// A text field of the body; empty when it is missing.
    #[must_use]
    pub fn str(&self, field: &str) -> String {
        self.json()[field].as_str().unwrap_or_default().to_owned()
    }

    /// A number in the body.
    ///
    /// # Panics
    /// When the field is missing or not a number.
    #[must_use]
    pub fn number(&self, field: &str) -> u64 {
        self.json()[field].as_u64().unwrap_or_else(|| panic!("{field} in {}", self.text))
    }

    /// The stable code of a problem.
    #[must_use]
    pub fn code(&self) -> String {
        self.str("code")
    }

    /// A header as text; empty when it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Asserts the status and gives the answer on.
    ///
    /// # Panics
    /// With the whole answer, when the status is another.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Asserts that this is a well-formed problem of that status and code.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn expect_problem(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{self:?}");
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        assert_eq!(self.number("status"), u64::from(status), "{self:?}");
        assert!(!self.header("x-request-id").is_empty(), "{self:?}");
    }
}

/// Sends requests to one service.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    bearer: Option<String>,
}

impl Client {
    /// To the service at `http://address`.
    ///
    /// # Panics
    /// When no client can be built.
    #[must_use]
    pub fn new(address: impl std::fmt::Display) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("a plain client is built");
        Self { http, base: format!("http://{address}"), bearer: None }
    }

    /// The same connection pool, with `Authorization: Bearer …`.
    #[must_use]
    pub fn with_bearer(&self, token: impl Into<String>) -> Self {
        Self { bearer: Some(token.into()), ..self.clone() }
    }

    /// The same connection pool, without a token.
    #[must_use]
    pub fn anonymous(&self) -> Self {
        Self { bearer: None, ..self.clone() }
    }

    /// The address requests go to.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The bearer token, if there is one.
    #[must_use]
    pub fn bearer(&self) -> Option<&str> {
        self.bearer.as_deref()
    }

    /// A request to add things to.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.bearer {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    /// POST without a body.
    pub async fn post(&self, path: &str) -> Answer {
        send(self.request(Method::POST, path)).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        send(self.request(Method::DELETE, path)).await
    }

    /// PUT with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        send(self.request(Method::PUT, path).json(body)).await
    }

    /// PATCH with a JSON body.
    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        send(self.request(Method::PATCH, path).json(body)).await
    }
}

/// Sends a request; an answer is an answer, whatever its status.
///
/// # Panics
/// When there is no answer at all.
pub async fn send(request: RequestBuilder) -> Answer {
    try_send(request).await.expect("an answer")
}

/// Sends a request that may fail on the way.
///
/// # Errors
/// When there is no answer.
pub async fn try_send(request: RequestBuilder) -> Result<Answer, reqwest::Error> {
    let response = request.send().await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Ok(Answer { status, headers, text: response.text().await? })
}
