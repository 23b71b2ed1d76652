//! `GET /events/{event}`: the page, as the person who opens it stands.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode, header};
use shared::problems;

use super::render::Page;
use super::seen::seen;
use crate::app::App;
use crate::error::Error;
use crate::http::cookie;
use crate::http::visitor::InRoom;

problems!(PageProblems: NotFound);

/// 200 with the page.
///
/// In the language of `lang`, of the choice before, or of `Accept-Language`. A `return_to` that is of one of the
/// room's `return_origins` is where the person is led back to. Without JavaScript it shows how one stands, asks
/// for itself again by a `Refresh` header, and is used by its forms. Opening it gives nobody a place.
#[utoipa::path(
    get,
    path = "",
    tag = "Room",
    summary = "The waiting page",
    params(
        ("lang" = Option<String>, Query, description = "A language of the page, such as `de`."),
        ("return_to" = Option<String>, Query, description = "Where the person came from."),
    ),
    security((), ("queue_cookie" = [])),
    responses(
        (
            status = 200, description = "The page.", body = String, content_type = "text/html",
            headers(("Refresh" = String, description = "Seconds until the page is to be opened again; not sent to the page's own script.")),
        ),
        PageProblems,
    ),
)]
pub(crate) async fn page(
    State(app): State<Arc<App>>,
    InRoom { event, room }: InRoom,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Error> {
    let page = Page::new(&app, &event, &room, query.as_deref(), &headers);
    let seen = seen(&app, &event, &room, &headers, page.language).await?;
    let mut response = page.render(seen.view, seen.number, StatusCode::OK)?;
    if let Some(ticket) = seen.ticket {
        response.headers_mut().append(header::SET_COOKIE, cookie::set(&app, &event, &ticket)?);
    }
    Ok(response)
}
