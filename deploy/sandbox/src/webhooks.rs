//! Telling the checkout: signed with `t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over `t.body`, and sent
//! again when it is not taken.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::ledger::Operation;
use crate::switches::Switches;

/// Webhooks on their way at once; the others are lost, as it may happen.
const UNDER_WAY_MAX: usize = 10_000;
const TIMEOUT: Duration = Duration::from_secs(5);
/// Pauses between attempts: it is given up after the last.
const PAUSES_MS: [u64; 6] = [100, 200, 400, 800, 1_600, 3_200];

/// Sends webhooks.
pub(crate) struct Webhooks {
    client: Client,
    secret: SecretString,
    under_way: Arc<Semaphore>,
}

impl Webhooks {
    pub(crate) fn new(secret: SecretString) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().timeout(TIMEOUT).build()?;
        Ok(Self { client, secret, under_way: Arc::new(Semaphore::new(UNDER_WAY_MAX)) })
    }

    /// Tells of an operation as the switches say. Ends when all of it was delivered or given up.
    pub(crate) async fn tell(&self, operation: Operation, switches: Switches) {
        let (true, Some(url)) = (switches.webhooks, switches.webhook_url) else { return };
        let Ok(_place) = self.under_way.clone().try_acquire_owned() else { return };
        let secret = switches.webhook_secret.map_or_else(|| self.secret.clone(), Into::into);
        tokio::time::sleep(Duration::from_millis(switches.webhook_delay_ms)).await;
        let body = json!({
            "id": format!("evt_{}", Uuid::now_v7().simple()),
            "operation": operation,
        })
        .to_string();
        for _ in 0..=switches.duplicate_webhooks {
            self.deliver(&url, &secret, &body).await;
        }
    }

    async fn deliver(&self, url: &str, secret: &SecretString, body: &str) {
        for pause in PAUSES_MS {
            let request = self.client.post(url).header("content-type", "application/json");
            let request = request.header("sandbox-signature", signature(secret, body));
            match request.body(body.to_owned()).send().await {
                Ok(answer) if answer.status().is_success() => return,
                Ok(answer) => {
                    tracing::warn!(status = answer.status().as_u16(), "webhook not taken")
                }
                Err(error) => tracing::warn!(error = %error, "webhook not delivered"),
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }
}

fn signature(secret: &SecretString, body: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
    let tag = hmac::sign(&key, format!("{now}.{body}").as_bytes());
    format!("t={now},v1={}", hex::encode(tag))
}
