//! Where the page leads: back to itself with what it was opened with, back to the shop, and to nowhere else.

use http::{HeaderMap, Uri, header};
use reqwest::Url;
use shared::ids::EventId;

/// What stands behind the page's `?`, after it was checked.
#[derive(Debug, Clone, Default)]
pub struct Link {
    /// The language that was chosen.
    pub lang: Option<String>,
    /// Where the person may be sent back to: of an origin that the room allows.
    pub return_to: Option<String>,
}

impl Link {
    /// From a query; what is not allowed is left out.
    pub fn read(query: &str, return_origins: &[String]) -> Self {
        let base = Url::parse("http://page/").ok();
        let Some(mut url) = base else { return Self::default() };
        url.set_query(Some(query));
        let find = |key: &str| {
            url.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned())
        };
        Self {
            lang: find("lang").filter(|tag| tag.len() <= 20),
            return_to: find("return_to").and_then(|to| allowed(&to, return_origins)),
        }
    }

    /// The page's own address with all of this, in another language if one is given.
    pub fn here(&self, event: &EventId, lang: Option<&str>) -> String {
        let path = format!("/events/{event}");
        let Some(mut url) = Url::parse("http://page/").ok() else { return path };
        let mut query = url.query_pairs_mut();
        if let Some(lang) = lang.or(self.lang.as_deref()) {
            query.append_pair("lang", lang);
        }
        if let Some(return_to) = &self.return_to {
            query.append_pair("return_to", return_to);
        }
        drop(query);
        match url.query() {
            Some(query) if !query.is_empty() => format!("{path}?{query}"),
            _ => path,
        }
    }

    /// Where somebody who was let in goes on to: everything personal is in the fragment, which is sent to no
    /// server and written in no log.
    pub fn checkout(&self, checkout_url: &str, token: &str) -> String {
        let mut to = format!("{checkout_url}#token={token}");
        if let Some(return_to) = &self.return_to {
            to.push_str("&return_to=");
            to.push_str(&escaped(return_to));
        }
        to
    }
}

/// Form encoding, which `URLSearchParams` reads.
fn escaped(text: &str) -> String {
    let Ok(mut url) = Url::parse("http://page/") else { return String::new() };
    url.query_pairs_mut().append_key_only(text);
    url.query().unwrap_or_default().to_owned()
}

/// As browsers read addresses, so that nothing is one origin here and another one there.
fn allowed(to: &str, origins: &[String]) -> Option<String> {
    let url = Url::parse(to).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none();
    let origin = url.origin();
    let is_listed = origin.is_tuple()
        && origins
            .iter()
            .any(|listed| Url::parse(listed).is_ok_and(|listed| listed.origin() == origin));
    (is_plain && is_listed && to.len() <= 2_000).then(|| url.into())
}

/// Whether a form was sent by our own page. A cookie is sent along from other sites' forms too (`SameSite=Lax`
/// keeps it back, old browsers do not), and their join would overwrite somebody's ticket.
pub fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text(http::HeaderName::from_static("sec-fetch-site")) {
        return matches!(site, "same-origin" | "none");
    }
    match text(header::ORIGIN) {
        // No browser's form: they all send one of the two.
        None => true,
        Some(origin) => {
            let origin = origin.parse::<Uri>().ok();
            let sender = origin.as_ref().and_then(Uri::authority).map(|part| part.as_str());
            sender.is_some() && sender == text(header::HOST)
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(return_to: &str) -> Option<String> {
        let mut url = Url::parse("http://page/").expect("an address");
        url.query_pairs_mut().append_pair("return_to", return_to);
        let origins = ["https://shop.example".to_owned(), "https://a.example:8443".to_owned()];
        Link::read(url.query().expect("a query"), &origins).return_to
    }

    #[test]
    fn only_listed_origins_are_returned_to() {
        assert_eq!(
            read("https://shop.example/x?y#z").as_deref(),
            Some("https://shop.example/x?y#z")
        );
        assert_eq!(read("https://SHOP.example:443/x").as_deref(), Some("https://shop.example/x"));
        assert_eq!(read("https://a.example:8443/").as_deref(), Some("https://a.example:8443/"));
        for bad in [
            "https://evil.example/",
            "http://shop.example/",
            "https://shop.example:444/",
            "https://shop.example.evil.example/",
            "https://shop.example@evil.example/",
            "https://user@shop.example/",
            "//shop.example/",
            "/x",
            "javascript:alert(1)",
            "data:text/html,x",
            "https:evil.example",
            "",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        // A browser takes the backslash for a slash, and so do we.
        assert_eq!(
            read(r"https://shop.example\@evil.example/").as_deref(),
            Some("https://shop.example/@evil.example/")
        );
    }

    #[test]
    fn the_pages_own_address_keeps_what_it_was_opened_with() {
        let event: EventId = "sale".parse().expect("a slug");
        assert_eq!(Link::default().here(&event, None), "/events/sale");
        let link = Link::read(
            "lang=de&return_to=https%3A%2F%2Fshop.example%2F%3Fa%26b",
            &["https://shop.example".to_owned()],
        );
        let here = "/events/sale?lang=ja&return_to=https%3A%2F%2Fshop.example%2F%3Fa%26b";
        assert_eq!(link.here(&event, Some("ja")), here);
        let to = "https://pay.example/#token=a.b.c&return_to=https%3A%2F%2Fshop.example%2F%3Fa%26b";
        assert_eq!(link.checkout("https://pay.example/", "a.b.c"), to);
    }

    #[test]
    fn forms_of_other_sites_are_told_from_our_own() {
        let from = |headers: &[(&'static str, &'static str)]| {
            let pairs = headers.iter().map(|(name, value)| {
                (http::HeaderName::from_static(name), HeaderValue::from_static(value))
            });
            is_from_here(&pairs.collect())
        };
        assert!(from(&[]));
        assert!(from(&[("sec-fetch-site", "same-origin"), ("origin", "https://a.example")]));
        assert!(!from(&[("sec-fetch-site", "cross-site")]));
        assert!(!from(&[("sec-fetch-site", "same-site")]));
        assert!(from(&[("origin", "https://a.example:8443"), ("host", "a.example:8443")]));
        assert!(!from(&[("origin", "https://b.example"), ("host", "a.example")]));
        assert!(!from(&[("origin", "null"), ("host", "a.example")]));
    }
}
