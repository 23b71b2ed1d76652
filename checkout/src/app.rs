//! What a running checkout is made of, and all of its routes.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use secrecy::ExposeSecret;
use shared::admission::{JwksSource, Verifier};
use shared::ops::Access;
use shared::redis::Redis;
use shared::secret::BearerToken;
use shared::settings::Common;
use shared::{docs, layers, ops};
use utoipa_axum::router::{UtoipaMethodRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes;

use crate::catalogue::Catalogue;
use crate::figures::Figures;
use crate::http::limit::PersonLimit;
use crate::http::{
    admin, admitted, describe, extend, issued_keys, metrics, outbox, owner, pay, reservations,
    reserve, sectors, service, webhooks,
};
use crate::payment::desk::Desk;
use crate::readiness;
use crate::room::endings::Endings;
use crate::room::queue_delay::QueueDelays;
use crate::room::revoked::RevokedTokens;
use crate::runtime::WriterThreads;
use crate::sale::issued_key::IssuedKeys;
use crate::sale::lease::Leases;
use crate::sale::pending::Ids;
use crate::sale::receipt::Receipts;
use crate::sale::writers::Writers;
use crate::settings::{Jwks, Settings, Switch};
use crate::store::Store;
use crate::tasks::Tasks;
use crate::verified_tokens::VerifiedTokens;

/// Everything a request can reach.
pub struct App {
    /// Postgres, the truth.
    pub store: Arc<Store>,
    /// Redis, for the sectors' leases and for what the waiting room is told.
    pub redis: Redis,
    /// What is known of the events without asking.
    pub catalogue: Arc<Catalogue>,
    /// What was counted, and what whoever watches is shown.
    pub figures: Arc<Figures>,
    /// Orders in line, and who writes them.
    pub writers: Writers,
    /// How long orders wait in line.
    pub queue_delays: Arc<QueueDelays>,
    /// How long a request waits for its order to be decided.
    pub decision_wait: Duration,
    /// Names of orders.
    pub ids: Ids,
    /// Idempotency keys of our own making.
    pub issued_keys: IssuedKeys,
    /// Whatever writes runs here.
    pub tasks: Tasks,
    /// The waiting room's public keys.
    pub admission_keys: Arc<JwksSource>,
    /// Verifies admission tokens.
    pub verifier: VerifiedTokens,
    /// The tokens of ended sessions.
    pub revoked: Arc<RevokedTokens>,
    /// Tells the waiting room whose session is over.
    pub endings: Arc<Endings>,
    /// Charges and refunds.
    pub payments: Arc<Desk>,
    /// Writes reservations' bodies, signs and verifies their tokens.
    pub receipts: Receipts,
    /// What the service that confirms must present.
    pub service_token: BearerToken,
    /// How often one person may ask, if there is a limit.
    pub person_limit: Option<PersonLimit>,
}

impl App {
    /// Connects to the stores; neither needs to be there yet.
    pub async fn new(settings: &Settings) -> anyhow::Result<Self> {
        let (store, writers_own) =
            stores(settings).context("STANCHION_DATABASE_URL must be a postgres:// URL")?;
        let store = Arc::new(store);
        let writers_own = (writers_own, store.clone(), WriterThreads::start()?);
        let redis = Redis::connect(settings.common.redis_url.expose_secret())
            .await
            .context("STANCHION_REDIS_URL must be a Redis URL")?;
        let leases = match settings.sector_lease {
            Switch::On => Some(Leases::new(redis.clone())),
            Switch::Off => None,
        };
        let admission_keys = Arc::new(admission_keys(&settings.jwks)?);
        let catalogue = Arc::new(Catalogue::new(store.clone()));
        let revoked = Arc::new(RevokedTokens::default());
        let endings =
            Endings::new(store.clone(), redis.clone(), catalogue.clone(), revoked.clone());
        let endings = Arc::new(endings);
        let retention_seconds = settings.idempotency_retention_seconds;
        let receipts = Receipts::new(&settings.reservation_key, retention_seconds);
        let figures = Arc::new(Figures::default());
        let queue_delays = Arc::new(QueueDelays::default());
        Ok(Self {
            catalogue,
            figures: figures.clone(),
            redis,
            writers: Writers::new(writers_own, receipts.clone(), leases, queue_delays.clone()),
            queue_delays,
            decision_wait: Duration::from_millis(settings.decision_wait_ms),
            ids: Ids::new(&settings.reservation_key),
            issued_keys: IssuedKeys::new(&settings.reservation_key, settings.idempotency_keys),
            revoked,
            payments: Arc::new(Desk::new(
                &settings.payments,
                store.clone(),
                endings.clone(),
                receipts.clone(),
                figures,
            )?),
            endings,
            store,
            tasks: Tasks::default(),
            verifier: VerifiedTokens::new(Verifier::new(
                &settings.common.issuer,
                admission_keys.clone(),
            )),
            admission_keys,
            receipts,
            service_token: settings.service_token.clone(),
            person_limit: PersonLimit::new(settings),
        })
    }
}

/// The store of the requests, and the writers' own with two fifths of the connections, at most 8.
fn stores(settings: &Settings) -> Result<(Store, Store), sqlx::Error> {
    let (url, connections) = (&settings.database.database_url, settings.database_connections);
    let writers = (connections * 2 / 5).clamp(1, 8);
    Ok((Store::new(url, connections - writers)?, Store::for_writers(url, writers)?))
}

fn admission_keys(jwks: &Jwks) -> anyhow::Result<JwksSource> {
    match (&jwks.jwks_url, &jwks.jwks_file) {
        (Some(url), _) => {
            let url = url.parse().context("STANCHION_JWKS_URL must be a URL")?;
            JwksSource::url(url).context("STANCHION_JWKS_URL cannot be used")
        }
        (None, Some(path)) => Ok(JwksSource::file(path.clone())),
        (None, None) => anyhow::bail!("set STANCHION_JWKS_URL or STANCHION_JWKS_FILE"),
    }
}

/// Calls of the public listener, each in one line with its method, path and handler: what is not here is
/// not served, and what is here is in `/openapi.json`. Whoever is meant by a call comes before it.
pub fn public(app: &Arc<App>, common: &Common) -> Router {
    let (needed, useful) = readiness::checks(app);
    let routes = describe::public()
        .call("POST /v1/reservations", admitted(app, routes!(reserve::create)))
        .call("GET /v1/reservations/{id}", owner(app, routes!(reservations::read)))
        .call("DELETE /v1/reservations/{id}", owner(app, routes!(reservations::cancel)))
        .call("POST /v1/reservations/{id}/extend", owner(app, routes!(extend::extend)))
        .call("POST /v1/reservations/{id}/confirm", service(app, routes!(reservations::confirm)))
        .call("POST /v1/reservations/{id}/payment", owner(app, routes!(pay::pay)))
        .call("POST /v1/idempotency-keys", admitted(app, routes!(issued_keys::issue)))
        .call("GET /v1/events/{event}/sectors", routes!(sectors::list))
        .call("POST /v1/webhooks/payments/{provider}", provider(routes!(webhooks::receive)))
        .health(needed, useful)
        .with_state(app.clone())
        .documented()
        .merge(docs::page());
    layers::wrap(layers::with_fallbacks(routes), &common.cors_origins, common.request_timeout())
}

/// Calls of the ops listener; `shared::ops` adds `/metrics` and the token in front of them all.
pub fn ops(app: &Arc<App>, common: &Common, access: Access) -> Router {
    let calls = describe::operators()
        .call("GET /v1/admin/events", routes!(admin::list))
        .call("GET /v1/admin/events/{event}", routes!(admin::show))
        .call("PUT /v1/admin/events/{event}", routes!(admin::put))
        .call("PATCH /v1/admin/events/{event}", routes!(admin::patch))
        .call("GET /v1/admin/events/{event}/reconcile", routes!(admin::reconcile))
        .call("GET /v1/admin/events/{event}/metrics", routes!(metrics::metrics))
        .call("GET /v1/admin/events/{event}/outbox", routes!(outbox::show))
        .call("POST /v1/admin/events/{event}/outbox/replay", routes!(outbox::replay))
        .with_state(app.clone());
    layers::wrap(ops::listener(calls, access), &[], common.request_timeout())
}

type Call = UtoipaMethodRouter<Arc<App>>;

/// For people whom the waiting room has let in. A layer added later is passed earlier: first who it is,
/// then whether they ask too often.
fn admitted(app: &Arc<App>, call: Call) -> Call {
    limited(app, call).layer(from_fn_with_state(app.clone(), admitted::require_admission))
}

/// For whoever has reserved.
fn owner(app: &Arc<App>, call: Call) -> Call {
    limited(app, call).layer(from_fn_with_state(app.clone(), owner::require_owner))
}

/// For the shop's back end.
fn service(app: &Arc<App>, call: Call) -> Call {
    call.layer(from_fn_with_state(app.clone(), service::require_service))
}

/// For payment providers, whose bodies may be larger than those of others.
fn provider(call: Call) -> Call {
    call.layer(DefaultBodyLimit::max(webhooks::BODY_BYTES_MAX))
}

fn limited(app: &App, call: Call) -> Call {
    match &app.person_limit {
        Some(limit) => call.layer(limit.layer()),
        None => call,
    }
}
