//! Where payments are made: the providers, and what bounds the calls of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use reqwest::{Client, Url};
use tokio::sync::{Notify, Semaphore};

use super::provider::{Answer, Provider, Trouble};
use super::sandbox::Sandbox;
use super::signature::Signatures;
use super::stripe::Stripe;
use crate::figures::Figures;
use crate::room::endings::Endings;
use crate::sale::receipt::Receipts;
use crate::settings::PaymentSettings;
use crate::store::Store;

/// Calls of providers that this instance makes at once for those who pay. More are made by the
/// reconciler, a moment later.
const CALLS_MAX: usize = 128;
/// How much longer than two calls an operation is left to whoever has taken it, in seconds.
const GRACE_SECONDS: f64 = 2.0;

/// The payments of one instance.
pub struct Desk {
    pub(super) store: Arc<Store>,
    pub(super) endings: Arc<Endings>,
    pub(super) receipts: Receipts,
    pub(super) figures: Arc<Figures>,
    pub(super) check_interval: Duration,
    pub(super) calls: Semaphore,
    /// Something is due at once.
    pub(super) due: Notify,
    providers: Vec<Arc<dyn Provider>>,
    timeout: Duration,
}

impl Desk {
    /// With the providers that are configured.
    pub fn new(
        settings: &PaymentSettings,
        store: Arc<Store>,
        endings: Arc<Endings>,
        receipts: Receipts,
        figures: Arc<Figures>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            store,
            endings,
            receipts,
            figures,
            check_interval: settings.check_interval(),
            calls: Semaphore::new(CALLS_MAX),
            due: Notify::new(),
            providers: providers(settings)?,
            timeout: settings.timeout(),
        })
    }

    /// The provider of this name, if it is on.
    pub fn provider(&self, name: &str) -> Option<&Arc<dyn Provider>> {
        self.providers.iter().find(|provider| provider.name() == name)
    }

    /// How long an operation is left to whoever has taken it, in seconds: a charge is two calls.
    pub(super) fn lease_seconds(&self) -> f64 {
        2.0 * self.timeout.as_secs_f64() + GRACE_SECONDS
    }

    /// An answer of the provider, in time.
    pub(super) async fn call<T>(
        &self,
        provider: &dyn Provider,
        call: &'static str,
        answer: Answer<'_, T>,
    ) -> Result<T, Trouble> {
        let (name, started) = (provider.name(), Instant::now());
        let answer = tokio::time::timeout(self.timeout, answer).await;
        let answer = answer.unwrap_or_else(|_| Err(Trouble("no answer in time".to_owned())));
        metrics::histogram!(
            "checkout_payment_call_duration_seconds", "provider" => name, "call" => call
        )
        .record(started.elapsed());
        if let Err(trouble) = &answer {
            tracing::warn!(provider = name, call, error = %trouble, "a payment's outcome is not known");
            metrics::counter!(
                "checkout_payment_calls_failed_total", "provider" => name, "call" => call
            )
            .increment(1);
        }
        answer
    }
}

fn providers(settings: &PaymentSettings) -> anyhow::Result<Vec<Arc<dyn Provider>>> {
    let client = Client::builder()
        .timeout(settings.timeout())
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .context("no client for payments can be made")?;
    let tolerance = settings.webhook_tolerance_seconds;
    let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
    if let (Some(url), Some(key)) = (&settings.sandbox_url, &settings.sandbox_key) {
        let url: Url = url.parse().context("STANCHION_SANDBOX_URL must be a URL")?;
        let signatures = Signatures::new(&settings.sandbox_webhook_secrets, tolerance);
        providers.push(Arc::new(Sandbox::new(client.clone(), url, key.clone(), signatures)));
    }
    if let Some(key) = &settings.stripe_key {
        let url: Url = settings.stripe_url.parse().context("STANCHION_STRIPE_URL must be a URL")?;
        let signatures = Signatures::new(&settings.stripe_webhook_secrets, tolerance);
        providers.push(Arc::new(Stripe::new(client, url, key.clone(), signatures)));
    }
    Ok(providers)
}
