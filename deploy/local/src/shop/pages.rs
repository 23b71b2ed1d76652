//! The static files, in the binary, and what the pages may load and call.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::desk::Desk;
use super::failed::Failed;

const SHOP: &str = include_str!("../../shop/index.html");
const SELF_CHECK: &str = include_str!("../../shop/self-check.html");

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../shop/", $name)))),*]
    };
}

/// Scripts and styles.
const FILES: &[(&str, &str)] = files![
    "api.js",
    "checks.js",
    "checks-payment.js",
    "checks-room.js",
    "checks-sale.js",
    "check-kit.js",
    "forged.js",
    "load.js",
    "panel.js",
    "sectors.js",
    "self-check.js",
    "session.js",
    "shop.css",
    "shop.js",
    "ticket.js",
    "words.js",
];

pub(super) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/", get(async |State(desk): State<Arc<Desk>>| page(&desk, SHOP)))
        .route("/self-check", get(async |State(desk): State<Arc<Desk>>| page(&desk, SELF_CHECK)))
        .route("/assets/{name}", get(file))
        .route("/config.json", get(config))
}

fn page(desk: &Desk, text: &'static str) -> Response {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
         connect-src 'self' {} {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        desk.options.checkout.url, desk.options.waiting_room.url
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer".into()),
    ];
    (headers, asset("text/html; charset=utf-8", text)).into_response()
}

async fn file(Path(name): Path<String>) -> Response {
    let Some((name, text)) = FILES.iter().find(|(known, _)| *known == name) else {
        return Failed::not_found("There is no such file.").into_response();
    };
    let style = name.ends_with(".css");
    let kind = if style { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
    asset(kind, text)
}

fn asset(content_type: &'static str, body: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, body).into_response()
}

/// What the pages need to know. Only they can read it, so that the guard in it proves them.
async fn config(State(desk): State<Arc<Desk>>) -> impl IntoResponse {
    let options = &desk.options;
    let config: Value = json!({
        "event": options.event,
        "checkout_url": options.checkout.url,
        "waiting_room_url": options.waiting_room.url,
        "can_restart": options.restarts.is_some(),
        "guard": desk.guard,
    });
    ([(header::CACHE_CONTROL, "no-store")], Json(config))
}
