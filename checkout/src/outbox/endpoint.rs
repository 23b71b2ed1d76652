//! Sending to the shop.

use std::time::Duration;

use anyhow::Context;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};

use super::message::MessageId;
use super::secret::WebhookSecret;
use crate::clock;

/// How long making a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// So much of an answer's body is taken in, so that the connection can be used again; nobody reads it.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Where the shop takes its messages.
#[derive(Debug)]
pub struct Endpoint {
    client: Client,
    url: Url,
    secrets: Vec<WebhookSecret>,
}

/// Why a message was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// In a few words, without an address.
    pub reason: String,
    /// How long the shop asks to be left alone.
    pub retry_after: Option<Duration>,
}

impl Endpoint {
    /// An endpoint that answers within `timeout`, or has not answered. Messages are signed with each of
    /// the secrets. Redirects are not followed: a message is for this address.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn new(url: Url, secrets: Vec<WebhookSecret>, timeout: Duration) -> anyhow::Result<Self> {
        let client = Client::builder()
            .timeout(timeout)
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .redirect(Policy::none())
            .user_agent(concat!("stanchion-checkout/", env!("CARGO_PKG_VERSION")))
            .build()
            .context("no HTTP client can be made")?;
        Ok(Self { client, url, secrets })
    }

    /// Sends a message once. It was taken if the status is 2xx.
    ///
    /// # Errors
    /// When it was not taken, or nobody knows.
    pub async fn send(&self, id: MessageId, body: String) -> Result<(), Failed> {
        let (id, at) = (id.to_string(), clock::unix_seconds());
        let signatures: Vec<String> =
            self.secrets.iter().map(|secret| secret.signature(&id, at, &body)).collect();
        let request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", at)
            .header("webhook-signature", signatures.join(" "))
            .body(body);
        let response = request.send().await.map_err(|error| failed(reason(&error)))?;
        let answer = judged(&response);
        take_in(response).await;
        answer
    }
}

fn judged(response: &Response) -> Result<(), Failed> {
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = seconds.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    Err(Failed { retry_after, ..failed(&format!("status {}", status.as_u16())) })
}

/// The status has decided; what else comes is of no interest, and neither is that it does not come.
async fn take_in(mut response: Response) {
    let mut bytes = 0;
    while let Ok(Some(chunk)) = response.chunk().await {
        bytes += chunk.len();
        if bytes > ANSWER_BYTES_MAX {
            return;
        }
    }
}

fn failed(reason: &str) -> Failed {
    Failed { reason: reason.to_owned(), retry_after: None }
}

fn reason(error: &reqwest::Error) -> &'static str {
    match () {
        () if error.is_timeout() => "no answer in time",
        () if error.is_connect() => "no connection",
        () => "the connection broke",
    }
}
