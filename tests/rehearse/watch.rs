//! What operators and the public are shown, once a second; counters against rows; the draw; the ledger.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::record::{Entry, Published, Reconciled, Sample};
use super::stage::{Ops, Stage};
use super::target::{Paying, Target};

const EVERY: Duration = Duration::from_secs(1);
/// Counters are held against rows every so many seconds: that reads the whole sale.
const RECONCILE_EVERY: usize = 15;

/// What was seen until `ended`.
pub(crate) struct Watched {
    pub(crate) samples: Vec<Sample>,
    pub(crate) reconciled: Vec<Reconciled>,
}

/// Looks until it is `ended`.
pub(crate) async fn watch(stage: Arc<Stage>, ops: Ops, ended: CancellationToken) -> Watched {
    let mut seconds = interval_at(Instant::now(), EVERY);
    seconds.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut watched = Watched { samples: Vec::new(), reconciled: Vec::new() };
    while ended.run_until_cancelled(seconds.tick()).await.is_some() {
        if let Some(sample) = sample(&stage, &ops).await {
            watched.samples.push(sample);
        }
        if watched.samples.len() % RECONCILE_EVERY == 1 {
            watched.reconciled.extend(reconcile(&stage.target, &ops, &stage.promised.event).await);
        }
    }
    watched
}

async fn sample(stage: &Stage, ops: &Ops) -> Option<Sample> {
    let (target, event) = (&stage.target, &stage.promised.event);
    let at_ms = stage.caller.now_ms();
    let urls = [
        format!("{}/v1/admin/events/{event}/metrics", target.room_ops),
        format!("{}/v1/events/{event}/status", target.rooms[0]),
        format!("{}/v1/events/{event}/sectors", target.checkouts[0]),
    ];
    let (room, status, sectors) =
        tokio::join!(ops.get(&urls[0]), ops.public(&urls[1]), ops.public(&urls[2]));
    let room = room.ok()?;
    let number = |name: &str| room[name].as_u64().unwrap_or_default();
    let text = |name: &str| room[name].as_str().unwrap_or_default().to_owned();
    let available = sectors.ok().and_then(|list| {
        let left = list["sectors"].as_array()?.iter().map(|sector| sector["available"].as_i64());
        left.sum::<Option<i64>>()
    });
    Some(Sample {
        at_ms,
        store_ms: number("at_ms"),
        status: text("status"),
        reason: text("reason"),
        waiting: number("waiting"),
        active: number("active_sessions"),
        tokens_total: number("tokens_total"),
        serving: number("serving"),
        rate_effective: number("effective_rate_per_minute"),
        public_serving: status.ok().and_then(|status| status["serving"].as_u64()),
        available,
        arrived: stage.live.arrived.load(Relaxed),
        admitted: stage.live.admitted.load(Relaxed),
        bought: stage.live.bought.load(Relaxed),
    })
}

/// Counters beside the sums of rows.
pub(crate) async fn reconcile(target: &Target, ops: &Ops, event: &str) -> Option<Reconciled> {
    let url = format!("{}/v1/admin/events/{event}/reconcile", target.checkout_ops);
    let report = ops.get(&url).await.ok()?;
    let sector = |one: &Value| {
        let count = |name: &str| one[name].as_i64().unwrap_or_default();
        [count("capacity"), count("available"), count("held"), count("confirmed")]
    };
    Some(Reconciled {
        consistent: report["consistent"].as_bool()?,
        overdue: report["overdue_holds"].as_i64()?,
        sectors: report["sectors"].as_array()?.iter().map(sector).collect(),
    })
}

/// The draw as it is published now; `None` where nobody is drawn.
pub(crate) async fn draw(stage: &Stage, ops: &Ops) -> Option<Published> {
    let url = format!("{}/v1/events/{}/draw", stage.target.rooms[0], stage.promised.event);
    let draw = ops.public(&url).await.ok()?;
    let text = |name: &str| draw[name].as_str().map(str::to_owned);
    Some(Published {
        commitment: text("commitment")?,
        beacon: text("draw_beacon_value").unwrap_or_default(),
        seed: text("seed"),
        n: draw["n"].as_u64(),
        algorithm: text("algorithm")?,
    })
}

/// What the sandbox provider has done for this event.
pub(crate) async fn ledger(target: &Target, event: &str) -> Option<Vec<Entry>> {
    let Paying::Sandbox { url, key } = &target.paying else { return None };
    let ledger = Ops::new(key).ok()?.get(&format!("{url}/v1/ledger")).await.ok()?;
    let entries = ledger["operations"].as_array()?.iter();
    let of_event = entries.filter(|one| one["metadata"]["event"] == event);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry = |one: &Value| Entry {
        is_charge: one["kind"] == "charge",
        succeeded: one["state"] == "succeeded",
        key: text(&one["key"]),
        charge_key: text(&one["charge_key"]),
        amount: one["amount"].as_i64().unwrap_or_default(),
        payment: text(&one["metadata"]["payment"]),
        reservation: text(&one["metadata"]["reservation"]),
    };
    Some(of_event.map(entry).collect())
}
