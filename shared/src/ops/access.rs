//! Who may call: by which token or cookie, and whether to change things or only to read.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method};
use serde::Serialize;
use utoipa::ToSchema;

use super::sessions::Sessions;
use crate::problem::{Code, Problem};
use crate::secret::BearerToken;

/// A page of ours sends it with whatever changes something. A page from elsewhere cannot: a browser asks
/// first whether it may, and an ops listener never says yes.
const OWN_PAGE: &str = "x-stanchion-dashboard";
/// Says where a page is from that has made a browser send a request.
const FROM: &str = "sec-fetch-site";

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    Full,
    /// Read everything and change nothing.
    Read,
}

/// Who calls, in the extensions of every request that has come past the token.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    /// What he may do.
    pub role: Role,
    /// Whether he was recognised by a cookie.
    pub by_cookie: bool,
}

/// The two tokens are the same, so that nobody could be told to be a reader.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("STANCHION_OPS_READ_TOKEN must be another one than STANCHION_OPS_TOKEN")]
pub struct InvalidAccess;

/// Who may call an ops listener. Cheap to clone.
#[derive(Clone)]
pub struct Access(Arc<Known>);

struct Known {
    full: BearerToken,
    read: Option<BearerToken>,
    sessions: Option<Sessions>,
}

impl Access {
    /// By these tokens; with `sessions` also by signing in.
    ///
    /// # Errors
    /// When the tokens are the same.
    pub fn new(
        full: BearerToken,
        read: Option<BearerToken>,
        sessions: Option<Sessions>,
    ) -> Result<Self, InvalidAccess> {
        if read.as_ref() == Some(&full) {
            return Err(InvalidAccess);
        }
        Ok(Self(Arc::new(Known { full, read, sessions })))
    }

    pub(super) fn sessions(&self) -> Option<&Sessions> {
        self.0.sessions.as_ref()
    }

    /// The token of a role, if there is one.
    pub(super) fn token(&self, role: Role) -> Option<&BearerToken> {
        match role {
            Role::Full => Some(&self.0.full),
            Role::Read => self.0.read.as_ref(),
        }
    }

    /// The role of whoever has this token. Compares with both, so that the time says nothing.
    pub(super) fn role(&self, presented: &str) -> Option<Role> {
        let full = self.0.full.matches(presented);
        let read = self.0.read.as_ref().is_some_and(|token| token.matches(presented));
        full.then_some(Role::Full).or(read.then_some(Role::Read))
    }

    fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        if let Some(presented) = bearer(headers) {
            return Some(Caller { role: self.role(presented)?, by_cookie: false });
        }
        let role = self.sessions()?.role(self, headers)?;
        Some(Caller { role, by_cookie: true })
    }
}

/// The token of an `Authorization: Bearer …` header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Lets through who may do what he asks for, and says in the request's extensions who it is.
pub(super) async fn require(
    State(access): State<Access>,
    mut request: Request,
    next: Next,
) -> Response {
    match allowed(&access, request.method(), request.headers()) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

fn allowed(access: &Access, method: &Method, headers: &HeaderMap) -> Result<Caller, Problem> {
    let caller = access.caller(headers).ok_or_else(|| {
        Problem::new(Code::InvalidToken, "Send the ops token as Authorization: Bearer.")
    })?;
    if matches!(*method, Method::GET | Method::HEAD) {
        return Ok(caller);
    }
    if caller.by_cookie {
        by_own_page(headers)?;
    }
    match caller.role {
        Role::Full => Ok(caller),
        Role::Read => Err(Problem::new(Code::ReadOnly, "This token reads and changes nothing.")),
    }
}

/// Refuses what another page has made a signed-in browser send: it sends the cookie along by itself.
pub(super) fn by_own_page(headers: &HeaderMap) -> Result<(), Problem> {
    let from_here = headers.get(FROM).is_none_or(|from| from.as_bytes() == b"same-origin");
    if headers.contains_key(OWN_PAGE) && from_here {
        return Ok(());
    }
    let detail = "With the cookie, changes are taken from the dashboard's own page alone.";
    Err(Problem::new(Code::CrossSite, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(read: Option<&str>) -> Result<Access, InvalidAccess> {
        let token = |text: &str| text.parse::<BearerToken>().expect("long enough");
        Access::new(token("the-token-of-all-power"), read.map(token), None)
    }

    fn headers(token: &str) -> HeaderMap {
        let value = format!("Bearer {token}").parse().expect("a header");
        HeaderMap::from_iter([(AUTHORIZATION, value)])
    }

    #[test]
    fn a_reader_reads_and_changes_nothing() {
        let access = access(Some("the-token-of-readers")).expect("two tokens");
        let allowed = |method, token| {
            allowed(&access, &method, &headers(token)).map_err(|problem| problem.code())
        };
        assert!(allowed(Method::GET, "the-token-of-readers").is_ok());
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let refused = allowed(method.clone(), "the-token-of-readers");
            assert_eq!(refused.err(), Some(Code::ReadOnly), "{method}");
            assert!(allowed(method, "the-token-of-all-power").is_ok());
        }
        assert_eq!(allowed(Method::GET, "some-other-token").err(), Some(Code::InvalidToken));
    }

    #[test]
    fn without_a_second_token_nobody_is_a_reader_and_one_token_is_not_both() {
        let none = access(None).expect("one token");
        assert_eq!(none.role(""), None);
        assert!(access(Some("the-token-of-all-power")).is_err());
    }
}
