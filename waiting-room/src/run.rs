//! Starting and stopping the service.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use secrecy::ExposeSecret;
use shared::admission::{Issuer, SigningKey};
use shared::layers;
use shared::ops;
use shared::redis::Redis;
use shared::serve::{Limits, Listeners};
use shared::telemetry;
use tokio_util::sync::CancellationToken;

use crate::app::{self, App};
use crate::node;
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
    telemetry::metrics();
    let redis = Redis::connect(common.redis_url.expose_secret())
        .await
        .context("STANCHION_REDIS_URL must be a redis:// URL")?;
    let app = Arc::new(App {
        rooms: Rooms::default(),
        presence: Presence::default(),
        store: Store::new(redis.clone()),
        tickets: TicketKey::new(&settings.ticket_key).context("STANCHION_TICKET_KEY")?,
        issuer: issuer(&settings)?,
        secure_cookies: !settings.insecure_cookies,
    });

    // A first look, so that the first request already finds its room.
    let background = [
        tokio::spawn(node::tick_until(app.clone(), shutdown.clone())),
        tokio::spawn(node::write_heartbeats_until(app.clone(), shutdown.clone())),
    ];
    let upkeep = tokio::spawn(telemetry::keep_metrics());

    let public = layers::wrap(
        layers::with_fallbacks(app::public(app.clone(), &settings, &shutdown)),
        &common.cors_origins,
        common.request_timeout(),
    );
    let operators = layers::wrap(
        ops::guarded(app::operators(app), common.ops_token.clone()),
        &[],
        common.request_timeout(),
    );
    let limits = Limits {
        connections_max: common.max_connections,
        shutdown_timeout: common.shutdown_timeout(),
    };
    listeners.serve(public, operators, limits, shutdown).await;

    for task in background {
        task.await.context("a background task panicked")?;
    }
    upkeep.abort();
    redis.close().await;
    Ok(())
}

fn issuer(settings: &Settings) -> anyhow::Result<Issuer> {
    let current = signing_key(&settings.admission_key_file, "STANCHION_ADMISSION_KEY_FILE")?;
    let next = settings
        .admission_next_key_file
        .as_deref()
        .map(|path| signing_key(path, "STANCHION_ADMISSION_NEXT_KEY_FILE"))
        .transpose()?;
    Ok(Issuer::new(&settings.common.issuer, current, next))
}

fn signing_key(path: &Path, variable: &'static str) -> anyhow::Result<SigningKey> {
    let pem = std::fs::read_to_string(path)
        .with_context(|| format!("{variable}: {} cannot be read", path.display()))?;
    SigningKey::from_pem(&pem).with_context(|| format!("{variable}: {}", path.display()))
}
