//! The sandbox provider, `deploy/sandbox`: a process of its own that takes no real money.

use http::{HeaderMap, StatusCode};
use reqwest::{Client, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use shared::ids::{EventId, ReservationId};
use uuid::Uuid;

use super::operation::Said;
use super::provider::{Answer, Forged, Found, Notice, Order, Prepared, Provider, Report, Trouble};
use super::signature::Signatures;

/// Talks to the sandbox.
pub struct Sandbox {
    client: Client,
    url: Url,
    key: SecretString,
    signatures: Signatures,
}

#[derive(Serialize)]
struct Body<'a> {
    key: &'a str,
    amount: i64,
    currency: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    charge_key: Option<&'a str>,
    metadata: Metadata,
}

#[derive(Serialize, Deserialize)]
struct Metadata {
    event: EventId,
    payment: Uuid,
    reservation: ReservationId,
}

/// An operation as the sandbox shows it, in answers and webhooks.
#[derive(Deserialize)]
struct Shown {
    id: String,
    key: String,
    state: String,
    amount: i64,
    failure_code: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Webhook {
    id: String,
    operation: Shown,
}

impl Sandbox {
    /// The sandbox at this address.
    pub fn new(client: Client, url: Url, key: SecretString, signatures: Signatures) -> Self {
        Self { client, url, key, signatures }
    }

    fn url(&self, path: &[&str]) -> Result<Url, Trouble> {
        let mut url = self.url.clone();
        let mut segments =
            url.path_segments_mut().map_err(|()| Trouble("the URL has no path".to_owned()))?;
        segments.pop_if_empty().extend(path);
        drop(segments);
        Ok(url)
    }

    async fn ask(&self, request: RequestBuilder) -> Result<Found, Trouble> {
        let request = request.bearer_auth(self.key.expose_secret());
        let answer = request.send().await.map_err(trouble)?;
        match answer.status() {
            StatusCode::OK | StatusCode::PAYMENT_REQUIRED => {
                Ok(Found::There(answer.json::<Shown>().await.map_err(trouble)?.report()))
            }
            StatusCode::NOT_FOUND => Ok(Found::NotThere),
            status => Err(Trouble(format!("the sandbox answered {status}"))),
        }
    }

    async fn order(&self, path: &[&str], order: &Order) -> Result<Report, Trouble> {
        let body = Body {
            key: &order.key,
            amount: order.amount,
            currency: &order.currency,
            method: order.method.as_deref(),
            charge_key: order.charge.as_ref().map(|(key, _)| key.as_str()),
            metadata: Metadata {
                event: order.event.clone(),
                payment: order.payment,
                reservation: order.reservation,
            },
        };
        match self.ask(self.client.post(self.url(path)?).json(&body)).await? {
            Found::There(report) => Ok(report),
            Found::NotThere => Err(Trouble("the sandbox knows no such call".to_owned())),
        }
    }
}

impl Provider for Sandbox {
    fn name(&self) -> &'static str {
        "sandbox"
    }

    fn prepare<'a>(&'a self, _: &'a Order) -> Answer<'a, Prepared> {
        Box::pin(async { Ok(Prepared::Ready) })
    }

    fn charge<'a>(&'a self, order: &'a Order) -> Answer<'a, Report> {
        Box::pin(self.order(&["v1", "charges"], order))
    }

    fn refund<'a>(&'a self, order: &'a Order) -> Answer<'a, Report> {
        Box::pin(self.order(&["v1", "refunds"], order))
    }

    fn look_up<'a>(&'a self, order: &'a Order) -> Answer<'a, Found> {
        Box::pin(async {
            let url = self.url(&["v1", "operations", &order.key])?;
            self.ask(self.client.get(url)).await
        })
    }

    fn withdraw<'a>(&'a self, order: &'a Order) -> Answer<'a, Report> {
        Box::pin(async {
            let url = self.url(&["v1", "operations", &order.key, "void"])?;
            match self.ask(self.client.post(url)).await? {
                Found::There(report) => Ok(report),
                Found::NotThere => Err(Trouble("the sandbox does not void".to_owned())),
            }
        })
    }

    fn webhook(&self, headers: &HeaderMap, body: &[u8], now: u64) -> Result<Notice, Forged> {
        self.signatures.verify(headers.get("sandbox-signature"), body, now)?;
        let webhook: Webhook = serde_json::from_slice(body).map_err(|_| Forged::Body)?;
        let report = webhook.operation.report();
        Ok(match webhook.operation.metadata {
            Some(Metadata { event, payment, .. }) => {
                Notice::About { id: webhook.id, event, payment, report }
            }
            None => Notice::Other,
        })
    }
}

impl Shown {
    fn report(&self) -> Report {
        let said = match self.state.as_str() {
            "succeeded" => Said::Succeeded,
            "declined" | "voided" => Said::Failed,
            "processing" => Said::Pending,
            _ => Said::Nothing,
        };
        Report {
            said,
            key: Some(self.key.clone()),
            reference: Some(self.id.clone()),
            failure_code: self.failure_code.clone(),
            customer_action: None,
            amount: Some(self.amount),
        }
    }
}

/// What went wrong, without the URL: it may have been given a secret.
pub(super) fn trouble(error: reqwest::Error) -> Trouble {
    Trouble(error.without_url().to_string())
}
