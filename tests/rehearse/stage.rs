//! The event that is rehearsed in: made for the purpose and closed at the end, or one that is there.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::caller::Caller;
use super::cli::Cli;
use super::record::Promised;
use super::target::{Paying, Target};

const OPS_WITHIN: Duration = Duration::from_secs(10);
/// Attempts, half a second apart, to see a new event at a service's public side.
const SHOWN_ATTEMPTS: u32 = 40;
const MAX_PER_USER: u64 = 4;
const SECTORS: [(&str, u64, u64); 4] = [
    ("Standing", 40, 4_500),
    ("Balcony", 30, 6_500),
    ("Stalls", 25, 8_000),
    ("Front row", 5, 19_900),
];

/// What people have done so far, for the progress bar.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub(crate) arrived: AtomicU64,
    pub(crate) in_queue: AtomicU64,
    pub(crate) admitted: AtomicU64,
    pub(crate) bought: AtomicU64,
}

/// Where everybody acts.
pub(crate) struct Stage {
    pub(crate) target: Target,
    pub(crate) caller: Caller,
    pub(crate) promised: Promised,
    pub(crate) hold_seconds: u64,
    pub(crate) any_sector: String,
    /// Of the key that signs admissions: its name, and its public half.
    pub(crate) key_id: Option<String>,
    pub(crate) public_key: String,
    /// Somebody's, for bots to alter.
    pub(crate) real_token: OnceLock<String>,
    pub(crate) live: Live,
    pub(crate) stop: CancellationToken,
}

impl Stage {
    pub(crate) fn room(&self, who: usize) -> &str {
        &self.target.rooms[who % self.target.rooms.len()]
    }

    pub(crate) fn checkout(&self, who: usize) -> &str {
        &self.target.checkouts[who % self.target.checkouts.len()]
    }

    pub(crate) fn queue_url(&self, who: usize) -> String {
        format!("{}/v1/events/{}/queue", self.room(who), self.promised.event)
    }
}

/// The ops listeners, and what the public may read.
#[derive(Clone)]
pub(crate) struct Ops {
    client: Client,
    token: String,
}

impl Ops {
    pub(crate) fn new(token: &str) -> anyhow::Result<Self> {
        let client = Client::builder().no_proxy().timeout(OPS_WITHIN).build()?;
        Ok(Self { client, token: token.to_owned() })
    }

    /// A call with the token; the body of a good answer.
    pub(crate) async fn call(
        &self,
        method: Method,
        url: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let mut request = self.client.request(method, url).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.with_context(|| format!("{url} does not answer"))?;
        let status = answer.status();
        let text = answer.text().await.unwrap_or_default();
        if !status.is_success() {
            bail!("{url} says {status}: {text}");
        }
        serde_json::from_str(&text).with_context(|| format!("{url} answers no JSON"))
    }

    pub(crate) async fn get(&self, url: &str) -> anyhow::Result<Value> {
        self.call(Method::GET, url, None).await
    }

    /// What anybody may read, without the token.
    pub(crate) async fn public(&self, url: &str) -> anyhow::Result<Value> {
        let answer = self.client.get(url).send().await?.error_for_status()?;
        Ok(answer.json().await?)
    }
}

/// The event that is rehearsed in. `opens_at` is what a new one is given.
pub(crate) async fn event(
    cli: &Cli,
    target: &Target,
    ops: &Ops,
    opens_at: OffsetDateTime,
) -> anyhow::Result<Promised> {
    match &cli.event {
        Some(event) => existing(cli, target, ops, event).await,
        None => made(cli, target, ops, opens_at).await,
    }
}

async fn made(
    cli: &Cli,
    target: &Target,
    ops: &Ops,
    opens_at: OffsetDateTime,
) -> anyhow::Result<Promised> {
    let event = format!("rehearsal-{}", &Uuid::new_v4().simple().to_string()[..12]);
    let people = u64::from(cli.people);
    let rate = cli.rate.unwrap_or_else(|| people.div_ceil(3).clamp(60, 600_000));
    let cap = cli.cap.unwrap_or_else(|| (rate * 3 / 4).max(10));
    let places = cli.places.unwrap_or_else(|| (people * 13 / 10).max(20));
    let sectors: Vec<Value> = SECTORS
        .iter()
        .map(|(name, percent, price)| {
            json!({"name": name, "capacity": (places * percent / 100).max(1), "price": price})
        })
        .collect();
    let capacity: i64 = sectors.iter().filter_map(|one| one["capacity"].as_i64()).sum();
    let sale = json!({
        "name": "Rehearsal", "max_per_user": MAX_PER_USER, "max_quantity_per_request": MAX_PER_USER,
        "hold_ttl_seconds": cli.hold, "currency": "EUR", "sectors": sectors,
    });
    let url = format!("{}/v1/admin/events/{event}", target.checkout_ops);
    ops.call(Method::PUT, &url, Some(&sale)).await?;
    let room = json!({
        "name": "Rehearsal", "opens_at": opens_at.format(&Rfc3339)?, "queueing_method": "random",
        "admission_rate_per_minute": rate, "max_active_sessions": cap,
        "claim_window_seconds": cli.claim_window, "session_duration_seconds": cli.session,
        "checkout_url": "https://rehearsal.invalid/",
    });
    let url = format!("{}/v1/admin/events/{event}", target.room_ops);
    ops.call(Method::PUT, &url, Some(&room)).await?;
    Ok(promised(event, (rate, cap, capacity, MAX_PER_USER), "random", true, &target.paying))
}

async fn existing(cli: &Cli, target: &Target, ops: &Ops, event: &str) -> anyhow::Result<Promised> {
    let room = ops.get(&format!("{}/v1/admin/events/{event}", target.room_ops)).await?;
    let sale = ops.get(&format!("{}/v1/admin/events/{event}", target.checkout_ops)).await?;
    let number = |value: &Value| value.as_u64().context("an event without its settings");
    let rate = cli.rate.map_or_else(|| number(&room["admission_rate_per_minute"]), Ok)?;
    let cap = cli.cap.map_or_else(|| number(&room["max_active_sessions"]), Ok)?;
    let sectors = sale["sectors"].as_array().into_iter().flatten();
    let places = sectors.filter_map(|sector| sector["capacity"].as_i64()).sum();
    let limits = (rate, cap, places, number(&sale["max_per_user"])?);
    let method = room["queueing_method"].as_str().unwrap_or_default();
    Ok(promised(event.to_owned(), limits, method, false, &target.paying))
}

fn promised(
    event: String,
    (rate_per_minute, cap, places, max_per_user): (u64, u64, i64, u64),
    queueing_method: &str,
    own_event: bool,
    paying: &Paying,
) -> Promised {
    let payment = match paying {
        Paying::Sandbox { .. } => "sandbox provider",
        Paying::Confirmed { .. } => "confirmed by the shop",
        Paying::Not => "none: holds are let go",
    };
    let queueing_method = queueing_method.to_owned();
    Promised {
        event,
        rate_per_minute,
        cap,
        places,
        max_per_user,
        queueing_method,
        own_event,
        payment,
    }
}

/// Waits until both services show the event; gives a sector, and the key that signs admissions.
pub(crate) async fn shown(
    target: &Target,
    ops: &Ops,
    event: &str,
) -> anyhow::Result<(String, Option<String>, String)> {
    for room in &target.rooms {
        until_shown(ops, &format!("{room}/v1/events/{event}/status")).await?;
    }
    let mut sector = None;
    for checkout in &target.checkouts {
        let list = until_shown(ops, &format!("{checkout}/v1/events/{event}/sectors")).await?;
        sector = list["sectors"][0]["sector_id"].as_str().map(str::to_owned);
    }
    let keys = ops.public(&format!("{}/.well-known/jwks.json", target.rooms[0])).await?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let key = &keys["keys"][0];
    let sector = sector.context("the event has no sectors")?;
    Ok((sector, text(&key["kid"]), text(&key["x"]).unwrap_or_default()))
}

async fn until_shown(ops: &Ops, url: &str) -> anyhow::Result<Value> {
    let mut last = ops.public(url).await;
    for _ in 0..SHOWN_ATTEMPTS {
        if last.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
        last = ops.public(url).await;
    }
    last.with_context(|| format!("{url} does not show the event"))
}

/// Closes the event that was made.
pub(crate) async fn close(target: &Target, ops: &Ops, promised: &Promised) -> anyhow::Result<()> {
    if promised.own_event {
        let url = format!("{}/v1/admin/events/{}/close", target.room_ops, promised.event);
        ops.call(Method::POST, &url, None).await?;
    }
    Ok(())
}
