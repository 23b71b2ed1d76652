//! `GET /dashboard`: the operators' page and what it loads, all out of the binary. It holds nothing; its scripts
//! ask for that, with the session of whoever has signed in.

use axum::response::{Html, IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use shared::problem::{Path, Problem};

const HTML: &str = include_str!("../../assets/dashboard/dashboard.html");

/// Nothing from anywhere else, nothing inline, no framing.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// What the page loads.
const FILES: [(&str, &str, &str); 10] = [
    ("dashboard.css", CSS, include_str!("../../assets/dashboard/dashboard.css")),
    ("dashboard.js", JS, include_str!("../../assets/dashboard/dashboard.js")),
    ("api.js", JS, include_str!("../../assets/dashboard/api.js")),
    ("audit.js", JS, include_str!("../../assets/dashboard/audit.js")),
    ("charts.js", JS, include_str!("../../assets/dashboard/charts.js")),
    ("controls.js", JS, include_str!("../../assets/dashboard/controls.js")),
    ("event.js", JS, include_str!("../../assets/dashboard/event.js")),
    ("words.js", JS, include_str!("../../assets/dashboard/words.js")),
    ("uplot.js", JS, include_str!("../../assets/dashboard/uplot/uPlot.iife.min.js")),
    ("uplot.css", CSS, include_str!("../../assets/dashboard/uplot/uPlot.min.css")),
];

/// 200: the page.
#[utoipa::path(
    get,
    path = "",
    tag = "Service",
    operation_id = "dashboard",
    summary = "The dashboard",
    description = "Loads nothing from any other host. Sign in on it with a token.",
    security(()),
    responses((status = 200, description = "The page.", body = String, content_type = "text/html")),
)]
pub(crate) async fn page() -> Response {
    asset("text/html; charset=utf-8", Html(HTML))
}

/// 200 with one of them.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Problem> {
    let found = FILES.into_iter().find(|(known, ..)| *known == name);
    let (_, media_type, text) = found.ok_or_else(Problem::not_found)?;
    Ok(asset(media_type, text))
}

fn asset(media_type: &'static str, text: impl IntoResponse) -> Response {
    let headers: [(HeaderName, HeaderValue); 5] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, text).into_response()
}
