//! How the shop is told what happens to reservations.

use anyhow::ensure;
use clap::{Args, value_parser};
use reqwest::Url;

use crate::outbox::secret::WebhookSecret;

/// How the shop is told what happens to reservations. The same for every instance.
#[derive(Debug, Clone, Args)]
pub struct ShopWebhook {
    /// Address of the shop that is told of every change of a reservation, by signed webhooks. Without it
    /// nobody is told.
    #[arg(
        id = "shop_webhook_url",
        long = "shop-webhook-url",
        env = "STANCHION_SHOP_WEBHOOK_URL",
        value_name = "STANCHION_SHOP_WEBHOOK_URL",
        value_parser = http_url
    )]
    pub url: Option<Url>,

    /// Secrets that webhooks are signed with, comma-separated: whsec_ and 24 to 64 bytes in base64.
    /// Several while they are being changed: each message has a signature by each.
    #[arg(
        id = "shop_webhook_secrets",
        long = "shop-webhook-secrets",
        env = "STANCHION_SHOP_WEBHOOK_SECRETS",
        value_name = "STANCHION_SHOP_WEBHOOK_SECRETS",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub secrets: Vec<WebhookSecret>,

    /// A webhook without an answer by then has failed, in milliseconds.
    #[arg(
        id = "shop_webhook_timeout_ms",
        long = "shop-webhook-timeout-ms",
        env = "STANCHION_SHOP_WEBHOOK_TIMEOUT_MS",
        value_name = "STANCHION_SHOP_WEBHOOK_TIMEOUT_MS",
        default_value_t = 10_000,
        value_parser = value_parser!(u64).range(100..=60_000)
    )]
    pub timeout_ms: u64,

    /// Webhooks that one instance has under way at once.
    #[arg(
        id = "shop_webhook_concurrency",
        long = "shop-webhook-concurrency",
        env = "STANCHION_SHOP_WEBHOOK_CONCURRENCY",
        value_name = "STANCHION_SHOP_WEBHOOK_CONCURRENCY",
        default_value_t = 16,
        value_parser = value_parser!(u32).range(1..=256)
    )]
    pub concurrency: u32,

    /// Attempts at one webhook before it is given up. With the default pauses they take about a day.
    #[arg(
        id = "shop_webhook_attempts",
        long = "shop-webhook-attempts",
        env = "STANCHION_SHOP_WEBHOOK_ATTEMPTS",
        value_name = "STANCHION_SHOP_WEBHOOK_ATTEMPTS",
        default_value_t = 20,
        value_parser = value_parser!(u32).range(1..=100)
    )]
    pub attempts: u32,

    /// Pause after the first attempt, in milliseconds, give or take half of it; it doubles each time, up
    /// to three hours.
    #[arg(
        id = "shop_webhook_backoff_ms",
        long = "shop-webhook-backoff-ms",
        env = "STANCHION_SHOP_WEBHOOK_BACKOFF_MS",
        value_name = "STANCHION_SHOP_WEBHOOK_BACKOFF_MS",
        default_value_t = 2_000,
        value_parser = value_parser!(u64).range(10..=3_600_000)
    )]
    pub backoff_ms: u64,

    /// How long it is kept that a webhook was delivered, in seconds.
    #[arg(
        id = "shop_webhook_retention_seconds",
        long = "shop-webhook-retention-seconds",
        env = "STANCHION_SHOP_WEBHOOK_RETENTION_SECONDS",
        value_name = "STANCHION_SHOP_WEBHOOK_RETENTION_SECONDS",
        default_value_t = 604_800,
        value_parser = value_parser!(u32).range(0..=31_536_000)
    )]
    pub retention_seconds: u32,
}

impl ShopWebhook {
    /// Refuses what cannot be meant together.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.url.is_some() != self.secrets.is_empty(),
            "set both STANCHION_SHOP_WEBHOOK_URL and STANCHION_SHOP_WEBHOOK_SECRETS, or neither"
        );
        Ok(())
    }
}

fn http_url(text: &str) -> Result<Url, &'static str> {
    match text.parse::<Url>() {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => Err("must be an http(s):// URL"),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            Err("must not hold a password: messages are known by their signature")
        }
        Ok(url) => Ok(url),
        Err(_) => Err("must be an http(s):// URL"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_http_and_holds_no_password() {
        assert!(http_url("https://shop.example/hooks").is_ok());
        for bad in ["shop.example", "ftp://shop.example/", "https://ada:secret@shop.example/"] {
            assert!(http_url(bad).is_err(), "{bad}");
        }
    }
}
