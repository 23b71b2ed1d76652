//! Logs by `tracing`, metrics in Prometheus' text format.

use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::settings::LogFormat;

/// Upper bounds of the request histogram's buckets, in seconds: from a poll out of memory to a
/// request that waited for a lock.
const REQUEST_SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// Histograms keep their samples until they are read or this has passed.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// STANCHION_LOG is not a filter.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("STANCHION_LOG must be a level (error, warn, info, debug, trace) or a list of directives")]
pub struct InvalidFilter;

/// Starts logging to standard output. A second call in one process changes nothing.
///
/// # Errors
/// When `filter` is not a filter.
pub fn init_logs(filter: &str, format: LogFormat) -> Result<(), InvalidFilter> {
    let filter = EnvFilter::try_new(filter).map_err(|_| InvalidFilter)?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter);
    // An error only says that logging has been started before.
    let _ = match format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Pretty => builder.try_init(),
    };
    Ok(())
}

/// The process's metrics. The first call starts collecting them.
pub fn metrics() -> &'static PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE.get_or_init(|| {
        let matcher = Matcher::Suffix("_duration_seconds".to_owned());
        PrometheusBuilder::new()
            .set_buckets_for_metric(matcher, REQUEST_SECONDS)
            .expect("the list of buckets is not empty")
            .install_recorder()
            .expect("this is the only place that installs a recorder, and it runs once")
    })
}

/// Keeps the memory that metrics use bounded while nobody reads them, until shutdown.
pub async fn keep_metrics(shutdown: CancellationToken) {
    while shutdown.run_until_cancelled(tokio::time::sleep(UPKEEP_INTERVAL)).await.is_some() {
        metrics().run_upkeep();
    }
}
