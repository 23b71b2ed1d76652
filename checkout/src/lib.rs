//! The checkout: sells a limited stock without ever selling a place twice.
//!
//! | module | what it holds |
//! |---|---|
//! | [`settings`] | configuration |
//! | [`app`] | what a running checkout is made of; all routes on one screen |
//! | [`http`] | from a request to what is to be done, and back |
//! | [`sale`] | the rules: baskets, decisions, holds, keys; the line of a sector and its writers |
//! | [`payment`] | charges and refunds: what they go through, who is asked, what follows |
//! | [`store`] | Postgres: every transaction and every statement, and the lock order |
//! | [`room`] | what the checkout and the waiting room tell one another |
//! | [`tasks`] | tasks that own what they do |
//! | [`verified_tokens`] | admission tokens that were verified a moment ago |
//! | [`catalogue`] | what is known of the events without asking |
//! | [`figures`] | what was counted of each event, for whoever watches |
//! | [`sweeper`], [`purge`], [`reconcile`] | what happens without anybody asking |
//! | [`outbox`] | tells the shop what happens to reservations |
//! | [`answer`], [`error`] | what is answered; every status |
//! | [`runtime`], [`readiness`], [`clock`] | its threads; whether it can work; its own clock |
//!
//! # Metrics
//!
//! Besides those of every service (`http_requests_total`, `http_request_duration_seconds`,
//! `panics_total`):
//!
//! | name | kind | what it counts |
//! |---|---|---|
//! | `checkout_reservations_total` | counter, `action`, `outcome` | `reserve`, `confirm`, `cancel` and `extend`, by `created`, `done`, `replayed` or the problem's code |
//! | `checkout_transaction_duration_seconds` | histogram | a transaction from its BEGIN to its end |
//! | `checkout_commit_duration_seconds` | histogram | its COMMIT |
//! | `checkout_stock_lock_duration_seconds` | histogram | a batch's write to the stock, which waits for the row's lock |
//! | `checkout_queue_delay_duration_seconds` | histogram | how long the oldest order of a batch has waited |
//! | `checkout_batch_orders` | histogram | orders written together |
//! | `checkout_conflicts_total` | counter, `what` | batches decided again because another instance was faster: `stock`, `user_total`, `key` |
//! | `checkout_batches_halved_total` | counter | batches in which something was wrong, tried again in halves |
//! | `checkout_sector_leases_total` | counter, `outcome` | leases: `acquired`, `waited_out`, `trouble`, `handed_over`, `lost` |
//! | `checkout_holds_expired_total` | counter | holds ended by this instance's sweeper |
//! | `checkout_holds_overdue` | gauge | holds whose time has passed, after a sweep; counts to 10,000 |
//! | `checkout_holds_stuck_total` | counter | times that a hold could not be ended: look at once |
//! | `checkout_idempotency_keys_purged_total` | counter | answers forgotten after their retention |
//! | `checkout_webhooks_total` | counter, `outcome` | attempts to tell the shop: `delivered`, `failed`, `dead` when it was the last one, `lost` when its claim was over before that was noted |
//! | `checkout_webhook_duration_seconds` | histogram | from sending a webhook to the end of its answer |
//! | `checkout_outbox_backlog` | gauge | what the shop is not told yet; of one event it counts to 10,000 |
//! | `checkout_outbox_oldest_seconds` | gauge | for how long the oldest of it has waited |
//! | `checkout_outbox_purged_total` | counter | rows of the outbox forgotten after their retention |
//! | `checkout_sessions_ended_total` | counter, `outcome` | sessions that the waiting room was told are over: `ended`, `unknown` to it; and reservations of which it was not told: `given_up` without Redis, `dropped` because too many waited |
//! | `checkout_revoked_tokens` | gauge | tokens of ended sessions that are refused |
//! | `checkout_places_left`, `checkout_places_held` | gauge, `event` | as the waiting room was last told |
//! | `checkout_queue_delay_seconds` | gauge, `event` | the longest wait for a sector's turn in the last moments |
//! | `checkout_payments_total` | counter, `provider`, `outcome` | what was heard of payments: `paid`, `recovered`, `owed`, `failed`, `refunded`, `refund_refused`, `noted` |
//! | `checkout_payments_owed_total` | counter, `reason` | refunds that became due: `sold_out`, `purchase_limit`, `cancelled`, `surplus` |
//! | `checkout_payments_mismatched_total` | counter | a provider says that it has moved another sum: look at once |
//! | `checkout_payment_call_duration_seconds` | histogram, `provider`, `call` | a call of the provider |
//! | `checkout_payment_calls_failed_total` | counter, `provider`, `call` | calls without an answer that can be used |
//! | `checkout_payment_webhooks_total` | counter, `provider`, `outcome` | webhooks: `taken`, `twice`, `other`, `unknown`, `forged` |
//! | `checkout_payments_unsettled` | gauge, `kind`, `state` | operations that are not done; a refund that is `failed` was refused |
//! | `checkout_payments_unsettled_age_seconds` | gauge, `kind`, `state` | the oldest of them |
//! | `checkout_database_connections` | gauge, `pool` | connections to Postgres, of the `requests` and of the `writers` |
//! | `checkout_database_connections_idle` | gauge, `pool` | those of them that nobody uses |

pub mod answer;
pub mod app;
pub mod catalogue;
pub mod clock;
pub mod error;
pub mod figures;
mod fresh;
pub mod http;
pub mod outbox;
pub mod payment;
pub mod purge;
pub mod readiness;
pub mod reconcile;
pub mod room;
pub mod runtime;
pub mod sale;
pub mod settings;
pub mod store;
pub mod sweeper;
pub mod tasks;
pub mod verified_tokens;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use secrecy::SecretString;
use shared::ids::EventId;
use shared::serve::{Limits, Listeners};
use shared::telemetry;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::room::stock::StockNews;
pub use crate::settings::Settings;
use crate::store::{Store, read};

/// How long one statement of a report may take.
const REPORT_STATEMENT_TIMEOUT: Duration = Duration::from_secs(600);
/// How often the use of the connections is measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);
/// How long the last words to the waiting room and closing the connections may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Serves until `shutdown`, then finishes what is under way, within the configured time.
pub async fn run(
    settings: Settings,
    listeners: Listeners,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    settings.check()?;
    let access = settings.common.ops_access(None)?;
    // The first call starts collecting.
    telemetry::metrics();
    if !settings.skip_migrations {
        migrate(&settings.database.database_url).await?;
    }
    let app = Arc::new(App::new(&settings).await?);
    // Whichever way this function ends, what it has started ends too.
    let background = shutdown.child_token();
    let _ends_background = background.clone().drop_guard();
    start_background(&app, &settings, &background);
    outbox::start(&app.store, &settings.shop_webhook, &app.tasks, &background)?;
    tokio::join!(app.store.warm_up(), app.writers.warm_up());

    let limits = Limits {
        connections_max: settings.common.max_connections,
        shutdown_timeout: settings.common.shutdown_timeout(),
    };
    let common = &settings.common;
    let (public, ops) = (app::public(&app, common), app::ops(&app, common, access));
    listeners.serve(public, ops, limits, shutdown).await;

    app.writers.shut_down();
    app.tasks.finish(settings.common.shutdown_timeout()).await;
    let close = async {
        app.endings.finish().await;
        tokio::join!(app.store.close(), app.writers.close(), app.redis.close())
    };
    if tokio::time::timeout(CLOSE_TIMEOUT, close).await.is_err() {
        tracing::warn!("connections not closed in time, cut off");
    }
    Ok(())
}

/// Applies the migrations that are missing.
pub async fn migrate(database_url: &SecretString) -> anyhow::Result<()> {
    store::migrate::migrate(database_url).await
}

/// Compares counters, rows and outbox, of one event or of all; with `repair` sets right what can be,
/// before it compares.
pub async fn reconcile(
    database_url: &SecretString,
    event: Option<EventId>,
    repair: bool,
) -> anyhow::Result<Vec<reconcile::Report>> {
    let store = Store::for_report(database_url, REPORT_STATEMENT_TIMEOUT)
        .context("STANCHION_DATABASE_URL must be a postgres:// URL")?;
    let store = Arc::new(store);
    let events = match event {
        Some(event) => vec![event],
        None => read::event_ids(&mut *store.connection().await?).await?,
    };
    let mut reports = Vec::with_capacity(events.len());
    for event in events {
        let repaired = match repair {
            true => Some(reconcile::repair::repair(&store, event.clone()).await?),
            false => None,
        };
        let mut report = reconcile::reconcile(&mut *store.connection().await?, event).await?;
        report.repair = repaired;
        reports.push(report);
    }
    Ok(reports)
}

fn start_background(app: &Arc<App>, settings: &Settings, shutdown: &CancellationToken) {
    let sweeper = sweeper::Sweeper::new(app.store.clone(), app.endings.clone());
    let interval = settings.sweep_interval();
    app.tasks.background(|owned| sweeper.run(owned, interval, shutdown.clone()));

    let (payments, token) = (app.payments.clone(), shutdown.clone());
    app.tasks.background(|owned| async move { payments.reconcile(owned, token).await });

    let retention_seconds = settings.idempotency_retention_seconds;
    app.tasks.background(|_| purge::run(app.store.clone(), retention_seconds, shutdown.clone()));

    let (keys, token) = (app.admission_keys.clone(), shutdown.clone());
    app.tasks.background(|_| async move { keys.keep_fresh(token).await });

    let (endings, token) = (app.endings.clone(), shutdown.clone());
    app.tasks.background(|_| async move { endings.run(token).await });

    let (revoked, redis, token) = (app.revoked.clone(), app.redis.clone(), shutdown.clone());
    app.tasks.background(|_| async move { revoked.keep_fresh(redis, token).await });

    let news = StockNews::new(app.clone());
    app.tasks.background(|_| news.run(shutdown.clone()));

    if let Some(limit) = &app.person_limit {
        app.tasks.background(|_| limit.forget_idle(shutdown.clone()));
    }

    let (connections, token) = (app.clone(), shutdown.clone());
    app.tasks.background(|_| async move {
        let measure = async || {
            connections.store.measure("requests");
            connections.writers.measure();
            tokio::time::sleep(MEASURE_INTERVAL).await;
        };
        while token.run_until_cancelled(measure()).await.is_some() {}
    });
    app.tasks.background(|_| telemetry::keep_metrics(shutdown.clone()));
}
