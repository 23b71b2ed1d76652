//! The service's state, and every route on one screen.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use shared::docs::{self, Calls};
use shared::health;
use tokio_util::sync::CancellationToken;
use tower_http::compression::CompressionLayer;
use utoipa_axum::router::UtoipaMethodRouterExt;
use utoipa_axum::routes;

use crate::board::Board;
use crate::http::admin::{codes, control, dashboard, events, history, metrics};
use crate::http::page::{assets, forms, room_page};
use crate::http::{
    admission, claim, describe, draw, heartbeat, join, join_limit, jwks, leave, place, readiness,
    status, stream,
};
use crate::identities::Identities;
use crate::keys::Keys;
use crate::page::Theme;
use crate::presence::Presence;
use crate::queue::TicketKey;
use crate::rooms::Rooms;
use crate::settings::Settings;
use crate::store::Store;

/// What every request may use.
pub struct App {
    /// What this node knows of every room.
    pub rooms: Rooms,
    /// Heartbeats not written yet.
    pub presence: Presence,
    /// The rooms' state.
    pub store: Store,
    /// Signs and reads queue tickets.
    pub tickets: TicketKey,
    /// Signs admission tokens.
    pub issuer: Keys,
    /// What operators watch.
    pub board: Board,
    /// Reads the shop's user tokens.
    pub identities: Identities,
    /// Whether cookies carry `Secure` and the `__Host-` prefix.
    pub secure_cookies: bool,
    /// The waiting page's template, and the files beside it.
    pub theme: Theme,
    /// Cancelled when the service shuts down: streams end then.
    pub shutdown: CancellationToken,
}

/// Calls of the public listener, each in one line with its method, path and handler: what is not here is
/// not served, and what is here is in `/openapi.json`.
pub fn public(app: Arc<App>, settings: &Settings, shutdown: &CancellationToken) -> Router {
    let (mut joins, mut forms) = (routes!(join::join), routes!(forms::press));
    if let Some(limit) = join_limit::layer(settings, shutdown) {
        let as_page = from_fn_with_state(app.clone(), forms::limit_as_page);
        joins = joins.layer(limit.clone());
        forms = forms.layer(limit).layer(as_page);
    }
    // Of the page and what it loads, and of no call: streams must not wait for a block to be full.
    let gzip = CompressionLayer::new().gzip(true);
    describe::public(settings)
        .call("POST /v1/events/{event}/queue", joins)
        .call("GET /v1/events/{event}/queue", routes!(place::place))
        .call("DELETE /v1/events/{event}/queue", routes!(leave::leave))
        .call("POST /v1/events/{event}/queue/heartbeat", routes!(heartbeat::heartbeat))
        .call("GET /v1/events/{event}/queue/stream", routes!(stream::stream))
        .call("POST /v1/events/{event}/admission", routes!(claim::claim))
        .call("GET /v1/events/{event}/admission", routes!(admission::admission))
        .call("GET /v1/events/{event}/status", routes!(status::status))
        .call("GET /v1/events/{event}/draw", routes!(draw::draw))
        .call("GET /events/{event}", routes!(room_page::page).layer(gzip.clone()))
        .call("POST /events/{event}", forms)
        .asset("/events/{event}/brand.css", get(assets::brand))
        .asset("/assets/room.css", get(assets::css).layer(gzip.clone()))
        .asset("/assets/room.js", get(assets::js).layer(gzip.clone()))
        .asset("/assets/custom/{*file}", get(assets::custom).layer(gzip))
        .call("GET /.well-known/jwks.json", routes!(jwks::jwks))
        .health(readiness::checks(app.clone()), health::none())
        .with_state(app)
        .documented()
        .merge(docs::page())
}

/// Calls of the ops listener; `shared::ops` adds `/metrics` and the token in front of them all.
pub fn operators(app: Arc<App>) -> Calls {
    describe::operators(app.secure_cookies)
        .call("GET /v1/admin/events", routes!(events::list))
        .call("GET /v1/admin/events/{event}", routes!(events::get))
        .call("PUT /v1/admin/events/{event}", routes!(events::put))
        .call("PATCH /v1/admin/events/{event}", routes!(events::patch))
        .call("PATCH /v1/admin/events/{event}/rate", routes!(events::rate))
        .call("POST /v1/admin/events/{event}/access-codes", routes!(codes::codes))
        .call("GET /v1/admin/events/{event}/audit", routes!(events::audit))
        .call("GET /v1/admin/events/{event}/metrics", routes!(metrics::metrics))
        .call("GET /v1/admin/events/{event}/metrics/stream", routes!(metrics::metrics_stream))
        .call("GET /v1/admin/events/{event}/metrics/history", routes!(history::history))
        .call("POST /v1/admin/events/{event}/{control}", routes!(control::control))
        .open_call("GET /dashboard", routes!(dashboard::page))
        .open_asset("/dashboard/{file}", get(dashboard::file))
        .with_state(app)
}
