//! A Redis and a waiting room of its own for one bench.

use local::service::{Service, ServiceOptions};
use local::stores::Redis;
use serde_json::{Value, json};
use shared::ids::EventId;
use tests::client::Client;
use tests::{keys, programs, stores};
use waiting_room::queue::{Ticket, TicketKey};

/// What runs.
pub(crate) struct Stack {
    pub(crate) redis: Redis,
    pub(crate) service: Service,
    pub(crate) public: Client,
    pub(crate) ops: Client,
}

impl Stack {
    /// Starts both.
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let directory = stores::scratch();
        let redis = stores::own_redis(&directory.join("redis")).await;
        let (public, ops) = (programs::address(), programs::address());
        let admission = keys::admission();
        let options = ServiceOptions::new(
            "waiting-room",
            programs::waiting_room(),
            format!("http://{public}"),
            directory.join("waiting-room.log"),
        )
        .arg("serve")
        .env("STANCHION_REDIS_URL", redis.url())
        .env("STANCHION_LISTEN", public.to_string())
        .env("STANCHION_OPS_LISTEN", ops.to_string())
        .env("STANCHION_OPS_TOKEN", keys::OPS_TOKEN)
        .env("STANCHION_TICKET_KEY", keys::TICKET_KEY)
        .env("STANCHION_JOIN_LIMIT_PER_MINUTE", "0")
        .env("STANCHION_LOG", "warn")
        .env("STANCHION_ADMISSION_KEY_FILE", admission.current.display().to_string());
        let service = Service::start(options).await?;
        let ops = Client::new(ops).with_bearer(keys::OPS_TOKEN);
        Ok(Self { redis, service, public: Client::new(public), ops })
    }

    /// Creates the event `sale` with these settings over plain ones.
    pub(crate) async fn create(&self, settings: &Value) {
        let mut body = json!({
            "name": "A concert", "checkout_url": "https://shop.example/", "queueing_method": "fifo",
            "max_active_sessions": 10_000_000,
        });
        for (name, value) in settings.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.ops.put("/v1/admin/events/sale", &body).await.expect(201);
    }

    /// Redis' memory, in bytes.
    pub(crate) async fn redis_bytes(&self) -> anyhow::Result<u64> {
        let info = stores::redis_command(&self.redis.url(), &["INFO", "memory"]).await;
        let used = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
        Ok(used.unwrap_or_default().trim().parse()?)
    }

    /// The node's resident memory, in bytes.
    pub(crate) fn node_bytes(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.service.pid()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1_024)
    }

    /// Says that so many numbers have been given out to people who are there, without giving them out.
    pub(crate) async fn pretend_joined(&self, people: u64) {
        let script = "redis.call('HSET', KEYS[1], 'last_number', ARGV[1]) \
                      local there = string.rep('\\255', math.floor(ARGV[1] / 8) + 1) \
                      redis.call('SET', KEYS[2], there) redis.call('SET', KEYS[3], there) return 1";
        let keys = ["room", "present", "seen"].map(|name| format!("stanchion:{{sale}}:{name}"));
        let words = ["EVAL", script, "3", &keys[0], &keys[1], &keys[2], &people.to_string()];
        stores::redis_command(&self.redis.url(), &words).await;
        tests::wait::until("the node to see them", async || {
            let status = self.public.get("/v1/events/sale/status").await;
            (status.status == 200 && status.number("last_number") >= people).then_some(())
        })
        .await;
    }
}

/// Tickets as the waiting room signs them.
pub(crate) fn tickets(numbers: impl Iterator<Item = u64>) -> anyhow::Result<Vec<String>> {
    let key = TicketKey::new(&keys::TICKET_KEY.parse().map_err(anyhow::Error::msg)?)?;
    let event: EventId = "sale".parse()?;
    numbers
        .map(|number| {
            let sub = format!("person-{number}").parse()?;
            let ticket = Ticket {
                event: event.clone(),
                number,
                sub,
                epoch: 1,
                iat: 1,
                priority: false,
                ahead: None,
            };
            Ok(key.sign(&ticket)?)
        })
        .collect()
}
