//! The service's state, and every route on one screen.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, patch, post};
use shared::health;
use tokio_util::sync::CancellationToken;

use crate::http::{
    admin, claim, draw, heartbeat, join, join_limit, jwks, leave, page, place, readiness, status,
    stream,
};
use crate::identities::Identities;
use crate::keys::Keys;
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
    /// Reads the shop's user tokens.
    pub identities: Identities,
    /// Whether cookies carry `Secure` and the `__Host-` prefix.
    pub secure_cookies: bool,
    /// Cancelled when the service shuts down: streams end then.
    pub shutdown: CancellationToken,
}

/// Routes of the public listener.
pub fn public(app: Arc<App>, settings: &Settings, shutdown: &CancellationToken) -> Router {
    let joins = post(join::join);
    let joins = match join_limit::layer(settings, shutdown) {
        Some(limit) => joins.layer(limit),
        None => joins,
    };
    Router::new()
        .route("/v1/events/{event}/queue", joins.get(place::place).delete(leave::leave))
        .route("/v1/events/{event}/queue/heartbeat", post(heartbeat::heartbeat))
        .route("/v1/events/{event}/queue/stream", get(stream::stream))
        .route("/v1/events/{event}/admission", post(claim::claim))
        .route("/v1/events/{event}/status", get(status::status))
        .route("/v1/events/{event}/draw", get(draw::draw))
        .route("/events/{event}", get(page::page))
        .route("/assets/room.css", get(page::css))
        .route("/assets/room.js", get(page::js))
        .route("/.well-known/jwks.json", get(jwks::jwks))
        .merge(health::router(readiness::checks(app.clone())))
        .with_state(app)
}

/// Routes of the ops listener; the token in front of them comes from `shared::ops`.
pub fn operators(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/admin/events", get(admin::list))
        .route("/v1/admin/events/{event}", get(admin::get).put(admin::put).patch(admin::patch))
        .route("/v1/admin/events/{event}/rate", patch(admin::rate))
        .route("/v1/admin/events/{event}/access-codes", post(admin::codes))
        .route("/v1/admin/events/{event}/audit", get(admin::audit))
        .route("/v1/admin/events/{event}/metrics", get(admin::metrics))
        .route("/v1/admin/events/{event}/metrics/stream", get(admin::metrics_stream))
        .route("/v1/admin/events/{event}/{control}", post(admin::control))
        .with_state(app)
}
