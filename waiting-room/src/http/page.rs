//! `GET /events/{event}`: the waiting page and what it loads, all out of the binary.

use askama::Template;
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use shared::ids::EventId;
use shared::problem::Problem;
use shared::problems;

use super::visitor::InRoom;
use crate::error::Error;

const CSS: &str = include_str!("../assets/room.css");
const JS: &str = include_str!("../assets/room.js");

/// Nothing from anywhere else, no inline script, no framing.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

#[derive(Template)]
#[template(path = "room.html")]
struct RoomPage<'a> {
    event: &'a EventId,
    name: &'a str,
}

problems!(PageProblems: NotFound);

/// 200: the page. It holds nothing personal; its script asks for that.
#[utoipa::path(
    get,
    path = "",
    tag = "Room",
    summary = "The waiting page",
    responses(
        (status = 200, description = "The page.", body = String, content_type = "text/html"),
        PageProblems,
    ),
)]
pub(crate) async fn page(InRoom { event, room }: InRoom) -> Result<Response, Error> {
    let html = RoomPage { event: &event, name: &room.settings.name }.render().map_err(|error| {
        tracing::error!(error = %error, "page not rendered");
        Problem::internal()
    })?;
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Ok((headers, Html(html)).into_response())
}

/// 200.
pub(crate) async fn css() -> impl IntoResponse {
    asset("text/css; charset=utf-8", CSS)
}

/// 200.
pub(crate) async fn js() -> impl IntoResponse {
    asset("text/javascript; charset=utf-8", JS)
}

fn asset(
    media_type: &'static str,
    text: &'static str,
) -> ([(HeaderName, HeaderValue); 3], &'static str) {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60")),
    ];
    (headers, text)
}
