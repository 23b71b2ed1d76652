//! Starting and stopping the service.

use std::sync::Arc;

use anyhow::Context;
use secrecy::ExposeSecret;
use shared::layers;
use shared::ops::{self, Sessions};
use shared::redis::Redis;
use shared::serve::{Limits, Listeners};
use shared::telemetry;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::app::{self, App};
use crate::board::checkouts::Checkouts;
use crate::board::{Board, sample};
use crate::identities::Identities;
use crate::keys::{self, Keys};
use crate::node;
use crate::page::Theme;
use crate::presence::Presence;
use crate::queue::TicketKey;
use crate::rooms::Rooms;
use crate::settings::Settings;
use crate::store::Store;

/// Runs the service on the given sockets until `shutdown`.
///
/// # Errors
/// When a key cannot be read or the Redis URL is malformed. A Redis that is not there is no error:
/// readiness says so, and the service connects when it comes.
pub async fn run(
    settings: Settings,
    listeners: Listeners,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    let common = settings.common.clone();
    let sessions = Sessions::new(&settings.ticket_key, !settings.insecure_cookies);
    let access = common.ops_access(Some(sessions))?;
    telemetry::metrics();
    let redis = Redis::connect(common.redis_url.expose_secret())
        .await
        .context("STANCHION_REDIS_URL must be a redis:// URL")?;
    let app = Arc::new(App {
        rooms: Rooms::default(),
        presence: Presence::default(),
        board: Board::default(),
        store: Store::new(redis.clone()),
        tickets: TicketKey::new(&settings.ticket_key).context("STANCHION_TICKET_KEY")?,
        issuer: Keys::load(&settings)?,
        identities: Identities::new(&settings)?,
        theme: Theme::load(settings.template_dir.as_deref()).context("STANCHION_TEMPLATE_DIR")?,
        secure_cookies: !settings.insecure_cookies,
        shutdown: shutdown.clone(),
    });

    let mut background = JoinSet::new();
    background.spawn(node::tick_until(app.clone(), shutdown.clone()));
    background.spawn(node::write_heartbeats_until(app.clone(), shutdown.clone()));
    background.spawn(sample::sample_until(app.clone(), shutdown.clone()));
    if let Some(checkouts) = Checkouts::new(&settings)? {
        background.spawn(checkouts.ask_until(app.clone(), shutdown.clone()));
    }
    background.spawn(telemetry::keep_metrics(shutdown.clone()));
    background.spawn(keys::reload_at_hangup(app.clone(), settings.clone(), shutdown.clone()));
    if let Some(user_keys) = app.identities.keys() {
        let shutdown = shutdown.clone();
        background.spawn(async move { user_keys.keep_fresh(shutdown).await });
    }

    let public = layers::wrap(
        layers::with_fallbacks(app::public(app.clone(), &settings, &shutdown)),
        &common.cors_origins,
        common.request_timeout(),
    );
    let operators =
        layers::wrap(ops::listener(app::operators(app), access), &[], common.request_timeout());
    let limits = Limits {
        connections_max: common.max_connections,
        shutdown_timeout: common.shutdown_timeout(),
    };
    listeners.serve(public, operators, limits, shutdown).await;

    while let Some(ended) = background.join_next().await {
        ended.context("a background task panicked")?;
    }
    redis.close().await;
    Ok(())
}
