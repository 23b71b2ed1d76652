//! The limit on joins from one address, so that one machine cannot fill the queue.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::IntoResponse;
use governor::middleware::NoOpMiddleware;
use http::{HeaderName, Request};
use shared::problem::{Code, Problem};
use tokio_util::sync::CancellationToken;
use tower_governor::governor::GovernorConfigBuilder;
use tower_governor::key_extractor::KeyExtractor;
use tower_governor::{GovernorError, GovernorLayer};

use crate::settings::Settings;

/// Addresses that have been quiet are forgotten this often, so that memory stays bounded.
const FORGET_INTERVAL: Duration = Duration::from_secs(60);

type Layer = GovernorLayer<ClientAddress, NoOpMiddleware, Body>;

/// The limit, unless it is switched off. Per node: n nodes let n times as many through.
pub(crate) fn layer(settings: &Settings, shutdown: &CancellationToken) -> Option<Layer> {
    let per_minute = settings.join_limit_per_minute;
    if per_minute == 0 {
        return None;
    }
    let config = GovernorConfigBuilder::default()
        .period(Duration::from_secs(60) / per_minute)
        .burst_size(per_minute)
        .key_extractor(ClientAddress { header: settings.client_ip_header.clone() })
        .finish()
        .map(Arc::new)?;
    let (limiter, shutdown) = (config.limiter().clone(), shutdown.clone());
    tokio::spawn(async move {
        while shutdown.run_until_cancelled(tokio::time::sleep(FORGET_INTERVAL)).await.is_some() {
            limiter.retain_recent();
        }
    });
    Some(GovernorLayer::new(config).error_handler(refusal))
}

fn refusal(error: GovernorError) -> axum::response::Response {
    match error {
        GovernorError::TooManyRequests { wait_time, .. } => {
            Problem::new(Code::RateLimited, "Too many people join from this address.")
                .retry_after_seconds(wait_time)
        }
        GovernorError::UnableToExtractKey | GovernorError::Other { .. } => {
            Problem::invalid_request("The client's address is not known.")
        }
    }
    .into_response()
}

/// The client's address: of the connection, or from the header that the operator's proxy sets.
#[derive(Debug, Clone)]
pub(crate) struct ClientAddress {
    header: Option<HeaderName>,
}

impl KeyExtractor for ClientAddress {
    type Key = IpAddr;

    fn name(&self) -> &'static str {
        "client address"
    }

    fn extract<T>(&self, request: &Request<T>) -> Result<IpAddr, GovernorError> {
        let address = match &self.header {
            None => request
                .extensions()
                .get::<ConnectInfo<SocketAddr>>()
                .map(|ConnectInfo(address)| address.ip()),
            // The last entry is the one that our own proxy has written.
            Some(name) => request
                .headers()
                .get_all(name)
                .iter()
                .next_back()
                .and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()),
        };
        address.map(network).ok_or(GovernorError::UnableToExtractKey)
    }
}

/// One subscriber has a whole IPv6 /64 (RFC 6177), so that counts as one address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}
