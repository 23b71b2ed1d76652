//! Step 2: how often one person may ask. Counted by this instance alone: with n instances a person
//! gets n times as much.

use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use governor::middleware::NoOpMiddleware;
use http::Request;
use shared::ids::Subject;
use shared::problem::{Code, Problem};
use tokio_util::sync::CancellationToken;
use tower_governor::governor::{GovernorConfig, GovernorConfigBuilder};
use tower_governor::key_extractor::KeyExtractor;
use tower_governor::{GovernorError, GovernorLayer};

use super::admitted::Person;
use crate::settings::Settings;

/// How often people who have not asked for a while are forgotten.
const FORGET_INTERVAL: Duration = Duration::from_secs(60);

/// The counts are kept by the `sub` of whoever has proved to be that person.
#[derive(Debug, Clone, Copy)]
pub struct BySubject;

type Config = GovernorConfig<BySubject, NoOpMiddleware>;

impl KeyExtractor for BySubject {
    type Key = Subject;

    fn name(&self) -> &'static str {
        "subject"
    }

    fn extract<T>(&self, request: &Request<T>) -> Result<Subject, GovernorError> {
        let person = request.extensions().get::<Person>();
        person.map(|person| person.0.clone()).ok_or(GovernorError::UnableToExtractKey)
    }
}

/// The limit of one instance. All routes of a person count together.
pub struct PersonLimit(std::sync::Arc<Config>);

impl PersonLimit {
    /// As configured; none when there is to be no limit.
    pub fn new(settings: &Settings) -> Option<Self> {
        let period = Duration::from_secs(1).checked_div(settings.user_rate_per_second)?;
        GovernorConfigBuilder::default()
            .period(period)
            .burst_size(settings.user_rate_burst)
            .key_extractor(BySubject)
            .finish()
            .map(|config| Self(config.into()))
    }

    /// The layer. It needs a [`Person`] in the request's extensions.
    pub fn layer(&self) -> GovernorLayer<BySubject, NoOpMiddleware, Body> {
        GovernorLayer::new(self.0.clone()).error_handler(refused)
    }

    /// Forgets, until shutdown, people who have not asked for a while.
    pub fn forget_idle(&self, shutdown: CancellationToken) -> impl Future<Output = ()> + 'static {
        let limiter = self.0.limiter().clone();
        async move {
            loop {
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    () = tokio::time::sleep(FORGET_INTERVAL) => limiter.retain_recent(),
                }
            }
        }
    }
}

/// Marks an answer of this limit, for whoever counts it and knows the event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limited;

fn refused(error: GovernorError) -> Response {
    let mut response = problem(error).into_response();
    if response.status() == Code::RateLimited.status() {
        response.extensions_mut().insert(Limited);
    }
    response
}

fn problem(error: GovernorError) -> Problem {
    match error {
        // It says 0 for what is under a second; a `Problem` says at least 1.
        GovernorError::TooManyRequests { wait_time, .. } => Problem::new(
            Code::RateLimited,
            "That were too many requests in a short time. Nothing was changed.",
        )
        .retry_after_seconds(wait_time),
        GovernorError::UnableToExtractKey | GovernorError::Other { .. } => {
            tracing::error!("a route is limited by person and does not know the person");
            Problem::internal()
        }
    }
}
