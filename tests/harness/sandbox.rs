//! The sandbox provider under test, and checkouts that pay with it.

use aws_lc_rs::hmac;
use clap::Parser;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::client::{Answer, Client, send};
use crate::sale::{Buyer, CheckoutNode, new_key};
use crate::{stores, wait};

/// What the checkout presents to the sandbox.
pub const KEY: &str = "sandbox-key-of-the-tests";
/// What the sandbox signs with.
pub const SECRET: &str = "sandbox-webhook-secret";

/// A sandbox, stopped when it is dropped.
pub struct Sandbox {
    /// Its calls, with the key.
    pub client: Client,
    _running: DropGuard,
}

/// One charge or refund, as the sandbox has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `charge` or `refund`.
    pub kind: String,
    /// `processing`, `succeeded`, `declined` or `voided`.
    pub state: String,
    /// The checkout's key.
    pub key: String,
    /// In the minor unit.
    pub amount: i64,
    /// Of a refund: what it gives back.
    pub charge_key: String,
    /// How often it was ordered.
    pub orders: u64,
}

impl Sandbox {
    /// A sandbox that sends no webhooks until it is told where to.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
        let address = listener.local_addr().expect("bound");
        let line = ["sandbox", "--key", KEY, "--webhook-secret", SECRET];
        let settings = sandbox::Settings::try_parse_from(line).expect("its own flags");
        let shutdown = CancellationToken::new();
        tokio::spawn(sandbox::run(settings, listener, shutdown.clone()));
        let client = Client::new(address).with_bearer(KEY);
        wait::until("the sandbox", async || {
            (client.get("/readyz").await.status == 200).then_some(())
        })
        .await;
        Self { client, _running: shutdown.drop_guard() }
    }

    /// Its address as a URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.client.base()
    }

    /// Turns switches.
    pub async fn switch(&self, change: Value) {
        self.client.patch("/v1/switches", &change).await.expect(204);
    }

    /// Sends webhooks to this checkout from now on.
    pub async fn tell(&self, checkout: &Client) {
        let url = format!("{}/v1/webhooks/payments/sandbox", checkout.base());
        self.switch(json!({ "webhook_url": url })).await;
    }

    /// Everything it has done.
    ///
    /// # Panics
    /// When its answer is another than it should be.
    pub async fn entries(&self) -> Vec<Entry> {
        let ledger = self.client.get("/v1/ledger").await.expect(200).json();
        assert_eq!(ledger["over_refunds"], json!(0), "money was to be given back twice");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let entry = |one: &Value| Entry {
            kind: text(&one["kind"]),
            state: text(&one["state"]),
            key: text(&one["key"]),
            amount: one["amount"].as_i64().expect("an amount"),
            charge_key: text(&one["charge_key"]),
            orders: one["orders"].as_u64().expect("a count"),
        };
        ledger["operations"].as_array().expect("a list").iter().map(entry).collect()
    }

    /// What it has done of a kind and to this end.
    pub async fn done(&self, kind: &str, state: &str) -> Vec<Entry> {
        let mut entries = self.entries().await;
        entries.retain(|entry| entry.kind == kind && entry.state == state);
        entries
    }
}

/// The flags of a checkout that pays with this sandbox, and is quick to ask and to give up waiting.
#[must_use]
pub fn flags(sandbox: &Sandbox) -> Vec<String> {
    [
        ("--sandbox-url", sandbox.url()),
        ("--sandbox-key", KEY),
        ("--sandbox-webhook-secrets", SECRET),
        ("--payment-check-interval-ms", "40"),
        ("--payment-timeout-ms", "2000"),
        ("--sweep-interval-ms", "20"),
    ]
    .into_iter()
    .flat_map(|(flag, value)| [flag.to_owned(), value.to_owned()])
    .collect()
}

/// A sandbox and a checkout that pays with it, on stores of its own; `more` flags win.
pub async fn paying(more: &[&str]) -> (Sandbox, CheckoutNode) {
    let sandbox = Sandbox::start().await;
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let node = CheckoutNode::start(&database, &redis, &with(&flags(&sandbox), more)).await;
    sandbox.tell(&node.public).await;
    (sandbox, node)
}

/// A sandbox and two checkouts that share their stores; webhooks go to the first.
pub async fn paying_pair(more: &[&str]) -> (Sandbox, CheckoutNode, CheckoutNode) {
    let sandbox = Sandbox::start().await;
    let (database, redis) = (stores::database_url().await, stores::redis_url().await);
    let flags = flags(&sandbox);
    let flags = with(&flags, more);
    let (one, two) = tokio::join!(
        CheckoutNode::start(&database, &redis, &flags),
        CheckoutNode::start(&database, &redis, &flags),
    );
    sandbox.tell(&one.public).await;
    (sandbox, one, two)
}

fn with<'a>(flags: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let mut line = Vec::new();
    for pair in flags.chunks(2) {
        if !more.contains(&pair[0].as_str()) {
            line.extend(pair.iter().map(String::as_str));
        }
    }
    line.extend(more);
    line
}

impl Buyer {
    /// Pays under a key of its own.
    pub async fn pay(&self, id: &str) -> Answer {
        self.pay_with(id, "pm_good", &new_key()).await
    }

    /// Pays with this payment method, under this key.
    pub async fn pay_with(&self, id: &str, method: &str, key: &str) -> Answer {
        send(self.pay_request(id, "sandbox", method, key)).await
    }

    /// The same, not sent yet, and with any provider.
    pub fn pay_request(
        &self,
        id: &str,
        provider: &str,
        method: &str,
        key: &str,
    ) -> reqwest::RequestBuilder {
        let request = self.client.request(Method::POST, &format!("/v1/reservations/{id}/payment"));
        let body = json!({ "provider": provider, "payment_method": method });
        request.header("idempotency-key", key).json(&body)
    }

    /// What is told of a reservation's payment now.
    pub async fn payment(&self, id: &str) -> Value {
        self.get(id).await.expect(200).json()["payment"].clone()
    }

    /// Waits until a reservation's payment is in this state; gives what is told of it.
    pub async fn payment_becomes(&self, id: &str, state: &str) -> Value {
        wait::until(&format!("the payment to be {state}"), async || {
            let payment = self.payment(id).await;
            (payment["state"] == state).then_some(payment)
        })
        .await
    }
}

/// A webhook's signature, as it is made with this secret at this time of the Unix epoch.
#[must_use]
pub fn signature(secret: &str, at: u64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("{at}.{body}").as_bytes());
    format!("t={at},v1={}", hex::encode(tag))
}

/// Seconds of the Unix epoch.
///
/// # Panics
/// Before 1970.
#[must_use]
pub fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.expect("after 1970").as_secs()
}

/// The body of a webhook about this payment, as the sandbox writes it.
#[must_use]
pub fn webhook(id: &str, payment: &str, key: &str, state: &str) -> String {
    json!({
        "id": id,
        "operation": {
            "id": "sb_1", "key": key, "state": state, "amount": 1_000, "failure_code": null,
            "metadata": { "event": "sale", "payment": payment, "reservation": payment },
        },
    })
    .to_string()
}

/// Sends a webhook with this signature.
pub async fn send_webhook(node: &CheckoutNode, body: &str, signature: &str) -> Answer {
    let request = node.public.request(Method::POST, "/v1/webhooks/payments/sandbox");
    send(request.header("sandbox-signature", signature).body(body.to_owned())).await
}
