//! Configuration of payments. A provider is on when its key is given.

use std::time::Duration;

use anyhow::ensure;
use clap::{Args, value_parser};
use secrecy::{ExposeSecret, SecretString};

use super::http_url;

/// Shortest secret of a provider, in characters.
const SECRET_LENGTH_MIN: usize = 16;

/// Who takes the money.
#[derive(Debug, Clone, Args)]
pub struct PaymentSettings {
    /// Address of the sandbox provider, which takes no real money.
    #[arg(
        long,
        env = "STANCHION_SANDBOX_URL",
        value_name = "STANCHION_SANDBOX_URL",
        value_parser = http_url
    )]
    pub sandbox_url: Option<String>,

    /// What the sandbox provider knows this checkout by, at least 16 characters. With it the sandbox is
    /// on.
    #[arg(
        long,
        env = "STANCHION_SANDBOX_KEY",
        value_name = "STANCHION_SANDBOX_KEY",
        hide_env_values = true
    )]
    pub sandbox_key: Option<SecretString>,

    /// What the sandbox signs webhooks with; several, comma-separated, while one is replaced.
    #[arg(
        long,
        env = "STANCHION_SANDBOX_WEBHOOK_SECRETS",
        value_name = "STANCHION_SANDBOX_WEBHOOK_SECRETS",
        value_delimiter = ',',
        hide_env_values = true
    )]
    pub sandbox_webhook_secrets: Vec<SecretString>,

    /// Address of Stripe's API.
    #[arg(
        long,
        env = "STANCHION_STRIPE_URL",
        value_name = "STANCHION_STRIPE_URL",
        default_value = "https://api.stripe.com",
        value_parser = http_url
    )]
    pub stripe_url: String,

    /// Stripe's secret or restricted key. With it Stripe is on.
    #[arg(
        long,
        env = "STANCHION_STRIPE_KEY",
        value_name = "STANCHION_STRIPE_KEY",
        hide_env_values = true
    )]
    pub stripe_key: Option<SecretString>,

    /// What Stripe signs webhooks with; several, comma-separated, while one is replaced.
    #[arg(
        long,
        env = "STANCHION_STRIPE_WEBHOOK_SECRETS",
        value_name = "STANCHION_STRIPE_WEBHOOK_SECRETS",
        value_delimiter = ',',
        hide_env_values = true
    )]
    pub stripe_webhook_secrets: Vec<SecretString>,

    /// How old a webhook's signature may be, in seconds.
    #[arg(
        long,
        env = "STANCHION_WEBHOOK_TOLERANCE_SECONDS",
        value_name = "STANCHION_WEBHOOK_TOLERANCE_SECONDS",
        default_value_t = 300,
        value_parser = value_parser!(u64).range(1..=3_600)
    )]
    pub webhook_tolerance_seconds: u64,

    /// How long a provider's answer is waited for, in milliseconds; then it is asked later what has
    /// happened.
    #[arg(
        long,
        env = "STANCHION_PAYMENT_TIMEOUT_MS",
        value_name = "STANCHION_PAYMENT_TIMEOUT_MS",
        default_value_t = 10_000,
        value_parser = value_parser!(u64).range(50..=120_000)
    )]
    pub payment_timeout_ms: u64,

    /// Pause between two looks for payments whose outcome is not known, in milliseconds; one that stays
    /// unknown is asked for after twice as long each time, up to 256 of it.
    #[arg(
        long,
        env = "STANCHION_PAYMENT_CHECK_INTERVAL_MS",
        value_name = "STANCHION_PAYMENT_CHECK_INTERVAL_MS",
        default_value_t = 1_000,
        value_parser = value_parser!(u64).range(10..=60_000)
    )]
    pub payment_check_interval_ms: u64,
}

impl PaymentSettings {
    /// Refuses half a provider.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.sandbox_key.is_some() == self.sandbox_url.is_some(),
            "STANCHION_SANDBOX_URL and STANCHION_SANDBOX_KEY go together"
        );
        for (provider, key, secrets) in [
            ("SANDBOX", &self.sandbox_key, &self.sandbox_webhook_secrets),
            ("STRIPE", &self.stripe_key, &self.stripe_webhook_secrets),
        ] {
            ensure!(
                key.is_some() != secrets.is_empty(),
                "STANCHION_{provider}_KEY and STANCHION_{provider}_WEBHOOK_SECRETS go together"
            );
            let short = |secret: &SecretString| secret.expose_secret().len() < SECRET_LENGTH_MIN;
            ensure!(
                !key.iter().any(short),
                "STANCHION_{provider}_KEY must be at least {SECRET_LENGTH_MIN} characters"
            );
            ensure!(
                !secrets.iter().any(short),
                "each of STANCHION_{provider}_WEBHOOK_SECRETS must be at least \
                 {SECRET_LENGTH_MIN} characters"
            );
        }
        Ok(())
    }

    /// How long a provider's answer is waited for.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.payment_timeout_ms)
    }

    /// Pause between two looks for payments whose outcome is not known.
    pub fn check_interval(&self) -> Duration {
        Duration::from_millis(self.payment_check_interval_ms)
    }
}
