//! What the page loads: its style and script, an event's colours, an operator's files. Named by what is in them, so
//! that browsers and CDNs keep them for ever, and a changed one is another one.

use std::sync::{Arc, LazyLock};

use aws_lc_rs::digest::{SHA256, digest};
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use shared::problem::{Path, Problem};

use crate::app::App;
use crate::error::Error;
use crate::http::visitor::InRoom;
use crate::page::Assets;
use crate::queue::Colour;

const CSS: &str = include_str!("../../assets/room.css");
/// One file for the browser, a few to read.
const JS: &str = concat!(
    include_str!("../../assets/room/language.js"),
    include_str!("../../assets/room/client.js"),
    include_str!("../../assets/room/tell.js"),
    include_str!("../../assets/room/view.js"),
    include_str!("../../assets/room/room.js"),
);
/// The grounds that text of the event's colour stands on; `--card` in the style.
const CARD: [&str; 2] = ["#ffffff", "#1b2029"];
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const FOR_A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// With the version in their query.
pub(super) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    css: format!("/assets/room.css?v={}", version(CSS)),
    js: format!("/assets/room.js?v={}", version(JS)),
});

fn version(text: &str) -> String {
    hex::encode(&digest(&SHA256, text.as_bytes()).as_ref()[..6])
}

/// 200.
pub(crate) async fn css(RawQuery(query): RawQuery) -> impl IntoResponse {
    (headers("text/css; charset=utf-8", is_this(query, CSS)), CSS)
}

/// 200.
pub(crate) async fn js(RawQuery(query): RawQuery) -> impl IntoResponse {
    (headers("text/javascript; charset=utf-8", is_this(query, JS)), JS)
}

/// While nodes are changed one by one, a page of the one may load the other's file: that is not kept.
fn is_this(query: Option<String>, text: &str) -> HeaderValue {
    if query == Some(format!("v={}", version(text))) { FOR_EVER } else { FOR_A_MINUTE }
}

fn headers(media_type: &'static str, cache: HeaderValue) -> [(HeaderName, HeaderValue); 3] {
    [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, cache),
    ]
}

/// Where an event's colours are.
pub(super) fn brand_href(event: &str, colour: &str) -> String {
    format!("/events/{event}/brand.css?v={}", colour.trim_start_matches('#'))
}

/// 200 with the event's colours; empty where it has none.
pub(crate) async fn brand(InRoom { room, .. }: InRoom) -> impl IntoResponse {
    let colour = room.settings.brand_color.as_deref().and_then(Colour::parse);
    (headers("text/css; charset=utf-8", FOR_A_MINUTE), colour.map(brand_style).unwrap_or_default())
}

/// The colour itself with what is read on it, and as much of it as can be read on the page's own ground.
fn brand_style(colour: Colour) -> String {
    let scheme = |ground: &str| {
        let ground = Colour::parse(ground).unwrap_or(Colour::WHITE);
        let (brand, ink) = (colour.css(), colour.ink().css());
        let accent = colour.readable_on(ground).css();
        format!(":root{{--brand:{brand};--on-brand:{ink};--accent:{accent}}}")
    };
    let [light, dark] = CARD.map(scheme);
    format!("{light}\n@media (prefers-color-scheme:dark){{{dark}}}\n")
}

/// 200 with a file beside the operator's template.
pub(crate) async fn custom(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, Error> {
    let asset = app.theme.file(&name).ok_or_else(Problem::not_found)?;
    Ok((headers(asset.media_type, FOR_A_MINUTE), asset.bytes.clone()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grounds_are_those_of_the_style() {
        for ground in CARD {
            assert!(CSS.contains(&format!("--card: {ground};")), "{ground}");
        }
    }

    #[test]
    fn an_events_colours_are_a_style_and_nothing_else() {
        let style = brand_style(Colour::parse("#ffee00").expect("a colour"));
        assert!(style.contains("--brand:#ffee00;--on-brand:#000000;"), "{style}");
        assert!(style.starts_with(":root{") && style.contains("dark){:root{"), "{style}");
    }
}
