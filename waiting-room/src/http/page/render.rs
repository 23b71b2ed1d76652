//! The page as an answer: what its template may use, and its headers.

use std::sync::Arc;

use axum::response::{Html, IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use reqwest::Url;
use serde_json::json;
use shared::ids::EventId;
use shared::problem::Problem;

use super::assets::{ASSETS, brand_href};
use super::seen::rule;
use crate::app::App;
use crate::error::Error;
use crate::http::answer::personal;
use crate::http::{cookie, status};
use crate::page::{Context, LANGUAGES, Language, Link, Tag, View, language};
use crate::queue::secure_origin;
use crate::rooms::Room;

/// The cookie by which the page's script says that it looks after the page itself.
const SCRIPT_COOKIE: &str = "stanchion-script";

/// One person's page.
pub(super) struct Page<'a> {
    app: &'a App,
    event: &'a EventId,
    room: &'a Arc<Room>,
    pub(super) language: &'static Language,
    pub(super) link: Link,
    has_script: bool,
}

impl<'a> Page<'a> {
    pub(super) fn new(
        app: &'a App,
        event: &'a EventId,
        room: &'a Arc<Room>,
        query: Option<&str>,
        headers: &HeaderMap,
    ) -> Self {
        let link = Link::read(query.unwrap_or_default(), &room.settings.return_origins);
        let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let remembered = cookie::value(headers, cookie::LANGUAGE);
        let language = language(link.lang.as_deref(), remembered, accepted);
        let has_script = cookie::value(headers, SCRIPT_COOKIE).is_some();
        Self { app, event, room, language, link, has_script }
    }

    /// The page's own address, with what it was opened with.
    pub(super) fn here(&self) -> String {
        self.link.here(self.event, None)
    }

    pub(super) fn render(
        &self,
        mut view: View,
        number: Option<u64>,
        status: StatusCode,
    ) -> Result<Response, Error> {
        view.refresh = view.refresh.filter(|_| !self.has_script);
        let refresh = view.refresh;
        let html = self.app.theme.render(&self.context(view, number)).map_err(|error| {
            tracing::error!(error = %error, "page not rendered");
            Problem::internal()
        })?;
        let mut response = personal((status, Html(html)).into_response());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, self.policy());
        // So that a form says which site it is from; other sites are told nothing.
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Language, Cookie"));
        headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(self.language.tag));
        if let Some(seconds) = refresh {
            headers.insert(header::REFRESH, HeaderValue::from(seconds));
        }
        if self.link.lang.is_some() {
            headers.append(header::SET_COOKIE, cookie::remember(self.app, self.language.tag)?);
        }
        Ok(response)
    }

    fn context(&self, view: View, number: Option<u64>) -> Context<'_> {
        let (settings, language) = (&self.room.settings, self.language);
        let return_to = self.link.return_to.as_deref();
        let brand = settings.brand_color.as_deref();
        let data = json!({
            "event": self.event,
            "state": view.state,
            "status": status::body(self.event, self.room),
            "return_to": return_to,
            "texts": language.texts,
        });
        Context {
            shop: view.state.leads_back() && return_to.is_some(),
            view,
            event: self.event.as_str(),
            name: &settings.name,
            message: settings.message.as_deref(),
            logo_url: settings.logo_url.as_deref(),
            brand_css: brand.map(|colour| brand_href(self.event.as_str(), colour)),
            lang: language.tag,
            dir: language.text("dir"),
            t: &language.texts,
            languages: LANGUAGES.iter().map(|other| self.tag(other)).collect(),
            rule: rule(self.room, number, language),
            here: self.here(),
            return_to,
            assets: &ASSETS,
            data,
        }
    }

    fn tag(&self, other: &'static Language) -> Tag {
        Tag {
            tag: other.tag,
            name: other.text("language_name"),
            dir: other.text("dir"),
            href: self.link.here(self.event, Some(other.tag)),
            current: other.tag == self.language.tag,
        }
    }

    /// Nothing from anywhere else but the logo, no inline script, no framing. A form leads to the page itself and
    /// from there to the checkout.
    fn policy(&self) -> HeaderValue {
        let settings = &self.room.settings;
        let logo = settings.logo_url.as_deref().and_then(secure_origin).unwrap_or_default();
        let checkout = checkout_origin(&settings.checkout_url).unwrap_or_default();
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; \
             img-src 'self' {logo}; base-uri 'none'; form-action 'self' {checkout}; frame-ancestors 'none'"
        );
        HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
    }
}

/// In letters that a policy can carry.
fn checkout_origin(url: &str) -> Option<String> {
    let origin = Url::parse(url).ok()?.origin().ascii_serialization();
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b":/.-[]".contains(&b);
    origin.bytes().all(is_plain).then_some(origin)
}
