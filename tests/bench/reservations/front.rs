//! The HTTP path of the baselines: the product's own layers, extractors and checks, up to where the
//! product puts an order in line. What comes then is the baseline.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::routing::post;
use axum::{Extension, Router};
use checkout::Settings;
use checkout::answer::Outcome;
use checkout::app::App;
use checkout::clock;
use checkout::http::{admitted, reserve_body::ReserveBody};
use checkout::sale::fingerprint::Fingerprint;
use checkout::sale::key::IdempotencyKey;
use checkout::sale::order::Order;
use shared::admission::AdmissionClaims;
use shared::ids::ReservationId;
use shared::layers;
use shared::problem::{Json, Problem};
use shared::serve::{Limits, serve};
use shared::signals::Session;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::backs::{Back, lock, no_db, table};
use crate::place::Path;

type Baseline = (SocketAddr, JoinHandle<anyhow::Result<()>>);

/// Opens a baseline beside a running service, which keeps the catalogue's tables for it.
pub(crate) async fn open(
    path: Path,
    settings: &Settings,
    database: &str,
    sector: &str,
    capacity: u32,
    shutdown: &CancellationToken,
) -> anyhow::Result<Baseline> {
    let mut settings = settings.clone();
    settings.database_connections = 40;
    let app = Arc::new(App::new(&settings).await?);
    app.admission_keys.refresh().await?;
    let sector = shared::ids::SectorId(sector.parse()?);
    let back: Arc<dyn Back> = match path {
        Path::Lock => Arc::new(lock::OneByOne::new(app.clone())),
        Path::Table => table::QueueTable::open(app.clone(), database, sector, shutdown).await?,
        Path::NoDb | Path::Product => no_db::Memory::open(app.clone(), sector, capacity, shutdown),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let routes = routes(&app, back, &settings);
    let limits = Limits {
        connections_max: settings.common.max_connections,
        shutdown_timeout: settings.common.shutdown_timeout(),
    };
    let shutdown = shutdown.clone();
    let task = tokio::spawn(async move {
        serve(listener, routes, limits, shutdown).await;
        app.store.close().await;
        Ok(())
    });
    Ok((address, task))
}

fn routes(app: &Arc<App>, back: Arc<dyn Back>, settings: &Settings) -> Router {
    let routes = Router::new().route("/v1/reservations", post(create));
    let routes = match &app.person_limit {
        Some(limit) => routes.route_layer(limit.layer()),
        None => routes,
    };
    let routes = routes
        .route_layer(from_fn_with_state(app.clone(), admitted::require_admission))
        .with_state((app.clone(), back));
    let common = &settings.common;
    layers::wrap(layers::with_fallbacks(routes), &common.cors_origins, common.request_timeout())
}

async fn create(
    State((app, back)): State<(Arc<App>, Arc<dyn Back>)>,
    Extension(claims): Extension<AdmissionClaims>,
    key: IdempotencyKey,
    Json(body): Json<ReserveBody>,
) -> Result<Outcome, Problem> {
    let basket = body.basket()?;
    let fingerprint = Fingerprint::reserve(&basket);
    let listing = app.catalogue.event(&claims.event).await?.ok_or_else(Problem::not_found)?;
    if !basket.sectors().all(|sector| listing.has(sector)) {
        return Err(Problem::not_found());
    }
    if app.revoked.contains(&claims.event, claims.jti) {
        return Err(Problem::not_found());
    }
    let id: ReservationId = app.ids.issue(&claims.event, &claims.sub, clock::unix_ms());
    let order = Order {
        id,
        event: claims.event,
        sub: claims.sub,
        admission: Session { jti: claims.jti, number: claims.number },
        key,
        fingerprint,
        basket,
    };
    back.decide(order).await
}
