//! The cookie of whoever has signed in: signed, so that nothing is stored and any node and any restart
//! knows it. It names the role and the end, and proves both by an HMAC that takes in the role's token: the
//! token is not in it, and with a new token every session of the old one is over.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use http::{HeaderMap, HeaderValue, header};
use uuid::Uuid;

use super::access::{Access, Role};
use super::attempts::Attempts;
use crate::problem::Problem;
use crate::secret::HmacKey;

/// How long a session lasts.
const SESSION_SECONDS: u64 = 12 * 60 * 60;
/// Sessions that were ended and whose time is not over, which this node remembers. One more, and the
/// oldest is forgotten, whose cookie the browser has dropped too.
const ENDED_MAX: usize = 10_000;

/// Signing in and out.
pub struct Sessions {
    key: hmac::Key,
    secure: bool,
    /// Ended sessions, with the second in which they would have ended by themselves.
    ended: Mutex<HashMap<Uuid, u64>>,
    attempts: Attempts,
}

/// What a cookie says.
struct Session {
    role: Role,
    until: u64,
    id: Uuid,
}

impl Sessions {
    /// Signed with a key made of this one. `secure`: the cookie travels over TLS alone.
    pub fn new(key: &HmacKey, secure: bool) -> Self {
        let key = hmac::Key::new(HMAC_SHA256, key.as_bytes());
        let own = hmac::sign(&key, b"stanchion: sessions of operators");
        Self {
            key: hmac::Key::new(HMAC_SHA256, own.as_ref()),
            secure,
            ended: Mutex::default(),
            attempts: Attempts::default(),
        }
    }

    /// The cookie's name. `__Host-` makes the browser refuse it from a subdomain or without TLS.
    pub fn cookie_name(secure: bool) -> &'static str {
        if secure { "__Host-stanchion-ops" } else { "stanchion-ops" }
    }

    /// Counts an attempt to sign in; seconds to wait when there were too many.
    pub(super) fn begin(&self, address: IpAddr) -> Result<(), u64> {
        self.attempts.begin(address, Instant::now())
    }

    /// The cookie of a new session.
    pub(super) fn start(
        &self,
        access: &Access,
        role: Role,
        address: IpAddr,
    ) -> Result<HeaderValue, Problem> {
        self.attempts.succeeded(address);
        let session = Session { role, until: now() + SESSION_SECONDS, id: Uuid::new_v4() };
        let text = session.text();
        let proof = self.proof(access, &session).ok_or_else(Problem::internal)?;
        self.cookie(&format!("{text}.{}", hex::encode(proof)), SESSION_SECONDS)
    }

    /// Ends the session of a request, if it has one, and gives a cookie that takes it away.
    pub(super) fn end(&self, access: &Access, headers: &HeaderMap) -> Result<HeaderValue, Problem> {
        if let Some(session) = self.session(access, headers) {
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.retain(|_, until| *until > now());
            if ended.len() >= ENDED_MAX {
                let oldest = ended.iter().min_by_key(|(_, until)| **until).map(|(id, _)| *id);
                oldest.and_then(|oldest| ended.remove(&oldest));
            }
            ended.insert(session.id, session.until);
        }
        self.cookie("", 0)
    }

    /// The role of a request's session.
    pub(super) fn role(&self, access: &Access, headers: &HeaderMap) -> Option<Role> {
        self.session(access, headers).map(|session| session.role)
    }

    fn session(&self, access: &Access, headers: &HeaderMap) -> Option<Session> {
        let name = Self::cookie_name(self.secure);
        let value = headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))?;
        let (text, proof) = value.rsplit_once('.')?;
        let session = Session::parse(text)?;
        let said = signed(text, access.token(session.role)?.as_bytes());
        hmac::verify(&self.key, &said, &hex::decode(proof).ok()?).ok()?;
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        (session.until > now() && !ended.contains_key(&session.id)).then_some(session)
    }

    fn proof(&self, access: &Access, session: &Session) -> Option<hmac::Tag> {
        let token = access.token(session.role)?;
        Some(hmac::sign(&self.key, &signed(&session.text(), token.as_bytes())))
    }

    fn cookie(&self, value: &str, seconds: u64) -> Result<HeaderValue, Problem> {
        let name = Self::cookie_name(self.secure);
        let secure = if self.secure { "; Secure" } else { "" };
        let text =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::from_str(&text).map_err(|_| Problem::internal())
    }
}

impl Session {
    fn text(&self) -> String {
        let role = match self.role {
            Role::Full => "full",
            Role::Read => "read",
        };
        format!("{role}.{}.{}", self.until, self.id.simple())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let role = match parts.next()? {
            "full" => Role::Full,
            "read" => Role::Read,
            _ => return None,
        };
        let session =
            Self { role, until: parts.next()?.parse().ok()?, id: parts.next()?.parse().ok()? };
        parts.next().is_none().then_some(session)
    }
}

/// What is signed. Neither part can be taken for the other: the first has no zero byte.
fn signed(text: &str, token: &[u8]) -> Vec<u8> {
    [text.as_bytes(), b"\0", token].concat()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn sessions() -> Sessions {
        Sessions::new(&"0a".repeat(32).parse().expect("32 bytes"), true)
    }

    fn access(full: &str) -> Access {
        let token = |text: &str| text.parse().expect("long enough");
        Access::new(token(full), Some(token("the-token-of-readers")), None).expect("two tokens")
    }

    fn sent(cookie: &HeaderValue) -> HeaderMap {
        let text = cookie.to_str().expect("a text").split(';').next().expect("a pair");
        HeaderMap::from_iter([(header::COOKIE, text.parse().expect("a header"))])
    }

    #[test]
    fn a_cookie_is_good_for_its_role_and_does_not_hold_the_token() {
        let (sessions, access) = (sessions(), access("the-token-of-all-power"));
        for role in [Role::Full, Role::Read] {
            let cookie = sessions.start(&access, role, HOME).expect("a cookie");
            assert_eq!(sessions.role(&access, &sent(&cookie)), Some(role));
            let text = cookie.to_str().expect("a text");
            assert!(!text.contains("the-token"), "{text}");
            for attribute in ["__Host-", "; Path=/", "; HttpOnly", "; SameSite=Strict", "; Secure"]
            {
                assert!(text.contains(attribute), "{text}");
            }
            // Another node, or this one after a restart.
            assert_eq!(self::sessions().role(&access, &sent(&cookie)), Some(role));
        }
    }

    #[test]
    fn a_cookie_that_was_changed_or_ended_or_is_of_another_token_is_none() {
        let (sessions, access) = (sessions(), access("the-token-of-all-power"));
        let cookie = sessions.start(&access, Role::Read, HOME).expect("a cookie");
        let raised = cookie.to_str().expect("a text").replace("=read.", "=full.");
        let raised = HeaderValue::from_str(&raised).expect("a header");
        assert_eq!(sessions.role(&access, &sent(&raised)), None);

        let full = sessions.start(&access, Role::Full, HOME).expect("a cookie");
        let other = self::access("another-token-of-power");
        assert_eq!(sessions.role(&other, &sent(&full)), None);
        sessions.end(&access, &sent(&full)).expect("a cookie");
        assert_eq!(sessions.role(&access, &sent(&full)), None);
        assert_eq!(sessions.role(&access, &sent(&cookie)), Some(Role::Read));
    }

    #[test]
    fn a_session_ends_by_itself() {
        let (sessions, access) = (sessions(), access("the-token-of-all-power"));
        for (until, expected) in [(now() + 60, Some(Role::Full)), (now(), None)] {
            let session = Session { role: Role::Full, until, id: Uuid::new_v4() };
            let proof = hex::encode(sessions.proof(&access, &session).expect("a token"));
            let value = format!("{}.{proof}", session.text());
            let cookie = sessions.cookie(&value, 1).expect("a cookie");
            assert_eq!(sessions.role(&access, &sent(&cookie)), expected);
        }
    }
}
