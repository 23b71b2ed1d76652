//! `POST /events/{event}`: the page's buttons without JavaScript. What has worked redirects, so that a reload does not
//! do it again.

use std::sync::Arc;

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{RawQuery, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use shared::problem::{Code, Problem};
use shared::problems;
use utoipa::ToSchema;

use super::render::Page;
use super::seen::{inside, outside};
use crate::app::App;
use crate::error::Error;
use crate::http::answer::{personal, place_of};
use crate::http::visitor::{InRoom, Visitor, reclaim, ticket};
use crate::http::{claim, cookie, join, leave};
use crate::page::{State as Shown, View, is_from_here};

problems!(FormProblems: NotFound);

/// A button of the page, pressed without JavaScript.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RoomForm)]
pub(crate) struct FormBody {
    action: Press,
    /// An access code, when joining.
    #[serde(default)]
    access_code: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Press {
    Join,
    Claim,
    Leave,
}

/// 303 when it has worked: to the page, or to the checkout with the token in the fragment.
///
/// What has not worked is said on a page. A form that another site has sent is not taken: it leads to the page.
#[utoipa::path(
    post,
    path = "",
    tag = "Room",
    summary = "The waiting page's buttons, without JavaScript",
    params(
        ("lang" = Option<String>, Query, description = "As in `GET`."),
        ("return_to" = Option<String>, Query, description = "As in `GET`."),
    ),
    security((), ("queue_cookie" = [])),
    request_body(content = FormBody, content_type = "application/x-www-form-urlencoded"),
    responses(
        (
            status = 303, description = "To the page, or to the checkout.",
            headers(("Location" = String, description = "Where to go on to."), ("Set-Cookie" = String, description = "The ticket, after joining.")),
        ),
        (status = 401, description = "The page: sign in first.", body = String, content_type = "text/html"),
        (status = 403, description = "The page: a code is needed.", body = String, content_type = "text/html"),
        (status = 409, description = "The page: closed, sold out, or the gate is full for a moment.", body = String, content_type = "text/html"),
        (status = 429, description = "The page: too many join from this address.", body = String, content_type = "text/html"),
        (status = 503, description = "The page: the queue is full, or the store does not answer.", body = String, content_type = "text/html"),
        FormProblems,
    ),
)]
pub(crate) async fn press(
    State(app): State<Arc<App>>,
    InRoom { event, room }: InRoom,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    form: Result<Form<FormBody>, FormRejection>,
) -> Result<Response, Error> {
    let page = Page::new(&app, &event, &room, query.as_deref(), &headers);
    if !is_from_here(&headers) {
        tracing::warn!(event = %event, "a form that another site has sent was not taken");
        return Ok(see_other(&page.here(), None));
    }
    let Form(form) = form.map_err(|rejected| Problem::invalid_request(rejected.body_text()))?;
    let visitor = ticket(&app, &event, &headers)
        .map(|ticket| Visitor::new(event.clone(), room.clone(), ticket));
    let done = match (form.action, visitor) {
        (Press::Join, _) => {
            let code = form.access_code.filter(|code| !code.is_empty());
            let has_code = code.is_some();
            let body = join::JoinBody::with_code(code);
            match join::enter(&app, &event, &room, &headers, body).await {
                Ok((_, place)) => Ok(Some(cookie::set(&app, &event, &place.ticket)?)),
                Err(error) => return not_joined(&page, &room, error, has_code),
            }
        }
        (Press::Claim, Some(visitor)) => return claimed(&app, &page, visitor).await,
        (Press::Leave, Some(visitor)) => leave::give_up(&app, &visitor).await.map(Some),
        // Without a ticket there is nothing to claim and nothing to leave.
        (Press::Claim | Press::Leave, None) => Ok(None),
    };
    Ok(see_other(&page.here(), done?))
}

async fn claimed(app: &App, page: &Page<'_>, visitor: Visitor) -> Result<Response, Error> {
    reclaim(app, &visitor).await?;
    let (room, event) = (visitor.room.clone(), visitor.event.clone());
    let ticket = visitor.ticket.clone();
    match claim::admission(app, visitor).await {
        Ok((_, admission)) => {
            let (url, token) = (&admission.checkout_url, &admission.admission_token);
            Ok(see_other(&page.link.checkout(url, token), None))
        }
        Err(Error::Problem(problem)) if problem.code() == Code::NotReady => {
            let visitor = Visitor::new(event, room.clone(), ticket);
            let Some(body) = place_of(app, &visitor).await? else {
                return Ok(see_other(&page.here(), None));
            };
            let mut view = inside(&room, &body, page.language);
            if view.state == Shown::Ready {
                view.notice = Some(page.language.text("press_again").to_owned());
            }
            answered(page, view, Some(body.number), problem.into())
        }
        // Missed, over, sold out: the page says so.
        Err(Error::Problem(_)) => Ok(see_other(&page.here(), None)),
        Err(error) => answered(page, View::new(Shown::Unavailable, page.language), None, error),
    }
}

fn not_joined(
    page: &Page<'_>,
    room: &crate::rooms::Room,
    error: Error,
    has_code: bool,
) -> Result<Response, Error> {
    let new = |state| View::new(state, page.language);
    let view = match &error {
        Error::Problem(problem) => match problem.code() {
            Code::AccessCode => {
                let mut view = new(Shown::Invite);
                view.notice = has_code.then(|| page.language.text("code_wrong").to_owned());
                view
            }
            Code::QueueFull => new(Shown::Full),
            Code::SoldOut => new(Shown::SoldOut),
            Code::InvalidToken => new(Shown::SignIn),
            Code::Closed => match outside(room, page.language) {
                // The store knows of it before this node does.
                view if view.state == Shown::Welcome => new(Shown::Closed),
                view => view,
            },
            _ => new(Shown::Unavailable),
        },
        _ => new(Shown::Unavailable),
    };
    answered(page, view, None, error)
}

/// A page with the status, and the `Retry-After`, that the error has for everybody else.
fn answered(
    page: &Page<'_>,
    view: View,
    number: Option<u64>,
    error: Error,
) -> Result<Response, Error> {
    let (parts, _) = error.into_response().into_parts();
    let mut response = page.render(view, number, parts.status)?;
    if let Some(seconds) = parts.headers.get(header::RETRY_AFTER) {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.clone());
    }
    Ok(response)
}

fn see_other(to: &str, cookie: Option<HeaderValue>) -> Response {
    let mut response = personal(Redirect::to(to));
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Says on a page, and not as a problem, that too many join from this address.
pub(crate) async fn limit_as_page(
    State(app): State<Arc<App>>,
    room: Result<InRoom, Error>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    let Ok(InRoom { event, room }) = room else { return response };
    if response.status() != StatusCode::TOO_MANY_REQUESTS {
        return response;
    }
    let page = Page::new(&app, &event, &room, query.as_deref(), &headers);
    let view = View::new(Shown::Busy, page.language);
    let mut busy = match page.render(view, None, response.status()) {
        Ok(busy) => busy,
        Err(error) => return error.into_response(),
    };
    if let Some(seconds) = response.headers().get(header::RETRY_AFTER) {
        busy.headers_mut().insert(header::RETRY_AFTER, seconds.clone());
    }
    busy
}
