//! Who may use the shop's own calls. It listens on the loopback interface only, but any page that a browser on
//! this machine has open could send requests there.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use uuid::Uuid;

use super::desk::Desk;
use super::failed::Failed;

/// What our pages send with each call. A foreign page cannot read it, and cannot send a header of that name
/// without asking first, which is not answered.
const HEADER: &str = "x-shop-guard";

/// A new secret, for as long as this process runs.
pub(super) fn secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Whoever comes under another name is sent to the right one: `localhost` by a person, and a foreign name that
/// was made to point here, which must not become this page's origin.
pub(super) async fn to_this_address(
    State(desk): State<Arc<Desk>>,
    request: Request,
    next: Next,
) -> Response {
    if text(request.headers(), header::HOST.as_str()) == Some(desk.authority()) {
        return next.run(request).await;
    }
    if request.method() != Method::GET {
        return Failed::foreign().into_response();
    }
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    Redirect::temporary(&format!("{}{path}", desk.url)).into_response()
}

/// Only requests that our own pages have made.
pub(super) async fn from_our_pages(
    State(desk): State<Arc<Desk>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    // Browsers name the origin with everything but a plain GET of the same origin.
    let ours = text(headers, header::ORIGIN.as_str()).is_none_or(|origin| origin == desk.url);
    if ours && text(headers, HEADER) == Some(&desk.guard) {
        next.run(request).await
    } else {
        Failed::foreign().into_response()
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
