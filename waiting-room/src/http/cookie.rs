//! The cookie that holds a browser's queue ticket.

use http::{HeaderMap, HeaderValue, header};
use shared::ids::EventId;
use shared::problem::Problem;

use crate::app::App;

/// Cookies live for 30 days: longer than any on-sale, and a place must survive a closed tab.
const SECONDS_MAX: u32 = 30 * 24 * 60 * 60;

/// The cookie that holds the language that was chosen.
pub(crate) const LANGUAGE: &str = "stanchion-language";

/// The ticket in the event's cookie.
pub(crate) fn read<'a>(app: &App, event: &EventId, headers: &'a HeaderMap) -> Option<&'a str> {
    value(headers, &name(app, event))
}

/// The value of any cookie.
pub(crate) fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

/// A cookie with the ticket.
pub(crate) fn set(app: &App, event: &EventId, ticket: &str) -> Result<HeaderValue, Problem> {
    header_value(app, event, ticket, SECONDS_MAX)
}

/// A cookie that takes the ticket away.
pub(crate) fn clear(app: &App, event: &EventId) -> Result<HeaderValue, Problem> {
    header_value(app, event, "", 0)
}

/// A cookie with the language that was chosen on the page, for a year.
pub(crate) fn remember(app: &App, language: &str) -> Result<HeaderValue, Problem> {
    let secure = if app.secure_cookies { "; Secure" } else { "" };
    let text =
        format!("{LANGUAGE}={language}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).map_err(|_| Problem::internal())
}

fn header_value(
    app: &App,
    event: &EventId,
    value: &str,
    seconds: u32,
) -> Result<HeaderValue, Problem> {
    let name = name(app, event);
    let secure = if app.secure_cookies { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).map_err(|_| Problem::internal())
}

/// The name of any event's cookie, for the description of the calls.
pub(crate) fn name_of_any(secure: bool) -> &'static str {
    if secure { "__Host-stanchion-{event}" } else { "stanchion-{event}" }
}

/// Named after the event, so that two rooms on one domain keep apart. `__Host-` makes the browser
/// refuse it from a subdomain or without TLS.
fn name(app: &App, event: &EventId) -> String {
    let prefix = if app.secure_cookies { "__Host-" } else { "" };
    format!("{prefix}stanchion-{event}")
}
