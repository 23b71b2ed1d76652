//! The demo event, put in place through the services' own ops API.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use local::wait;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

/// The demo event's slug.
pub(crate) const EVENT: &str = "demo";

/// The sector that scripts use.
const SECTOR: &str = "Standing";

const REQUEST_WITHIN: Duration = Duration::from_secs(10);

/// How long the checkout may take to show a new event to the public.
const SHOWN_WITHIN: Duration = Duration::from_secs(10);

/// Talks to the ops API.
pub(crate) struct Seed {
    client: Client,
    ops_token: String,
}

impl Seed {
    pub(crate) fn new(ops_token: &str) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().timeout(REQUEST_WITHIN).build()?;
        Ok(Self { client, ops_token: ops_token.to_owned() })
    }

    /// Makes the event in the waiting room, or points an existing one at the shop's address.
    pub(crate) async fn waiting_room(&self, ops: &str, shop_url: &str) -> anyhow::Result<()> {
        let Some(event) = self.find(ops).await? else {
            return self.put(ops, &waiting_room_event(shop_url)).await;
        };
        if event["checkout_url"] == *shop_url {
            return Ok(());
        }
        let change = self.admin(Method::PATCH, ops).json(&json!({ "checkout_url": shop_url }));
        accepted(change.send().await?).await.context("cannot change the demo event").map(drop)
    }

    /// Makes the event in the checkout unless it is there.
    pub(crate) async fn checkout(&self, ops: &str) -> anyhow::Result<()> {
        match self.find(ops).await? {
            Some(_) => Ok(()),
            None => self.put(ops, &checkout_event()).await,
        }
    }

    /// The id of the sector that scripts use, once the checkout shows it.
    pub(crate) async fn sector_id(&self, checkout: &str) -> anyhow::Result<String> {
        let url = format!("{checkout}/v1/events/{EVENT}/sectors");
        wait::until(SHOWN_WITHIN, async || {
            let answer: Value = accepted(self.client.get(&url).send().await?).await?.json().await?;
            let sectors = answer["sectors"].as_array().context("no `sectors` in the answer")?;
            let sector = sectors.iter().find(|sector| sector["name"] == SECTOR);
            let id = sector.and_then(|sector| sector["sector_id"].as_str());
            Ok(id.with_context(|| format!("no sector {SECTOR}"))?.to_owned())
        })
        .await
        .context("the checkout does not show the demo event")
    }

    async fn find(&self, ops: &str) -> anyhow::Result<Option<Value>> {
        let answer = self.admin(Method::GET, ops).send().await?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let found = accepted(answer).await.context("cannot ask for the demo event")?;
        Ok(Some(found.json().await?))
    }

    async fn put(&self, ops: &str, event: &Value) -> anyhow::Result<()> {
        let answer = self.admin(Method::PUT, ops).json(event).send().await?;
        accepted(answer).await.context("cannot make the demo event").map(drop)
    }

    fn admin(&self, method: Method, ops: &str) -> RequestBuilder {
        let url = format!("{ops}/v1/admin/events/{EVENT}");
        self.client.request(method, url).bearer_auth(&self.ops_token)
    }
}

/// The answer, or an error with what it says.
async fn accepted(answer: Response) -> anyhow::Result<Response> {
    let (status, url) = (answer.status(), answer.url().clone());
    if status.is_success() {
        return Ok(answer);
    }
    let body = answer.text().await.unwrap_or_default();
    ensure!(!body.is_empty(), "{url} says {status}");
    bail!("{url} says {status}: {body}")
}

fn waiting_room_event(shop_url: &str) -> Value {
    json!({
        "name": "Demo concert",
        "queueing_method": "fifo",
        "admission_rate_per_minute": 600,
        "max_active_sessions": 200,
        "claim_window_seconds": 120,
        "session_duration_seconds": 600,
        "identity": "anonymous",
        "checkout_url": shop_url,
        "return_origins": [],
        "on_store_error": "closed",
    })
}

fn checkout_event() -> Value {
    json!({
        "name": "Demo concert",
        "max_per_user": 4,
        "max_quantity_per_request": 4,
        "hold_ttl_seconds": 300,
        "currency": "EUR",
        "sectors": [
            { "name": SECTOR, "capacity": 100, "price": 4500 },
            { "name": "Balcony", "capacity": 1000, "price": 6500 },
            { "name": "Front row", "capacity": 1, "price": 19900 },
        ],
    })
}
