//! Requests of many people over few connections, timed from the moment at which they were due.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use hdrhistogram::Histogram;
use reqwest::{Client, RequestBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::record::{Answered, Call};

const REQUEST_WITHIN: Duration = Duration::from_secs(15);
/// The longest time that is told apart, in microseconds.
const LATENCY_MAX_US: u64 = 60_000_000;
/// People who share an address: fewer than may join from one in a minute, clicked twice or not.
const PEOPLE_PER_ADDRESS: usize = 80;
const ADDRESSES_MAX: usize = 2_000;

/// An answer. Times are milliseconds from the start.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) retry_after: Option<u64>,
    pub(crate) sent_ms: u64,
    pub(crate) at_ms: u64,
}

impl Reply {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn json<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }

    pub(crate) fn code(&self) -> String {
        if self.is_success() {
            return String::new();
        }
        let body: Option<Value> = self.json();
        body.and_then(|body| body["code"].as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// Sends, times and counts.
pub(crate) struct Caller {
    /// One for each address that people come from.
    clients: Vec<Client>,
    sources: Vec<Option<IpAddr>>,
    header: Option<String>,
    pub(crate) started: Instant,
    answers: Mutex<BTreeMap<Answered, u64>>,
    latencies: Vec<Mutex<Histogram<u64>>>,
    lateness: Mutex<Histogram<u64>>,
}

impl Caller {
    /// People of a local target come from many addresses of 127.0.0.0/8, since a room counts joins by
    /// address; elsewhere all come from this machine's.
    pub(crate) fn new(people: usize, spread: bool, header: Option<String>) -> anyhow::Result<Self> {
        let sources = if spread { addresses(people) } else { vec![None] };
        let client = |source: &Option<IpAddr>| {
            let client = Client::builder()
                .no_proxy()
                .timeout(REQUEST_WITHIN)
                .connect_timeout(REQUEST_WITHIN)
                .local_address(*source)
                .pool_idle_timeout(Duration::from_secs(20))
                .redirect(reqwest::redirect::Policy::none());
            client.build().context("no client can be built")
        };
        let clients = sources.iter().map(client).collect::<anyhow::Result<_>>()?;
        let latencies = Call::ALL.iter().map(|_| histogram().map(Mutex::new));
        Ok(Self {
            clients,
            sources,
            header,
            started: Instant::now(),
            answers: Mutex::default(),
            latencies: latencies.collect::<anyhow::Result<_>>()?,
            lateness: Mutex::new(histogram()?),
        })
    }

    /// Milliseconds from the start.
    pub(crate) fn now_ms(&self) -> u64 {
        millis(self.started.elapsed())
    }

    /// The address that somebody comes from, when it was chosen.
    pub(crate) fn source(&self, who: usize) -> Option<IpAddr> {
        self.sources[who % self.sources.len()]
    }

    pub(crate) fn client(&self, who: usize) -> &Client {
        &self.clients[who % self.clients.len()]
    }

    /// Notes how late the rehearsal itself was with what was due then.
    pub(crate) fn late(&self, due: Instant) {
        let late = due.elapsed();
        lock(&self.lateness).saturating_record(micros(late));
    }

    /// One request of somebody, whose time counts from `due`. `None` when there was no answer.
    ///
    /// `again_ms` is when he would ask again anyway: an answer that takes longer stands for those that he could
    /// not send meanwhile too (the correction for coordinated omission).
    pub(crate) async fn send(
        &self,
        who: usize,
        call: Call,
        due: Instant,
        again_ms: u64,
        request: impl FnOnce(&Client) -> RequestBuilder,
    ) -> Option<Reply> {
        let sent_ms = self.now_ms();
        let mut request = request(self.client(who));
        if let Some(header) = &self.header {
            request = request.header(header.as_str(), invented(who).to_string());
        }
        let answer = match request.send().await {
            Ok(response) => {
                let status = response.status().as_u16();
                let header = response.headers().get("retry-after");
                let retry_after = header.and_then(|value| value.to_str().ok()?.parse().ok());
                response.bytes().await.ok().map(|body| (status, retry_after, body.to_vec()))
            }
            Err(_) => None,
        };
        let Some((status, retry_after, body)) = answer else {
            self.count(Answered { call, status: 0, code: "no_answer".to_owned() });
            return None;
        };
        let reply = Reply { status, body, retry_after, sent_ms, at_ms: self.now_ms() };
        self.count(Answered { call, status, code: reply.code() });
        let index = Call::ALL.iter().position(|known| *known == call).unwrap_or_default();
        let mut histogram = lock(&self.latencies[index]);
        let took = micros(due.elapsed()).min(LATENCY_MAX_US);
        // Within the bounds that the histogram was made with.
        let _ = histogram.record_correct(took, again_ms.saturating_mul(1_000));
        Some(reply)
    }

    fn count(&self, answered: Answered) {
        *lock(&self.answers).entry(answered).or_default() += 1;
    }

    /// Answers that are an error nobody should see, or none at all.
    pub(crate) fn errors(&self) -> u64 {
        let answers = lock(&self.answers);
        let wrong = answers.iter().filter(|(answer, _)| answer.status == 0 || answer.status >= 500);
        wrong.map(|(_, count)| count).sum()
    }

    pub(crate) fn answers(&self) -> BTreeMap<Answered, u64> {
        lock(&self.answers).clone()
    }

    pub(crate) fn latencies(&self) -> Vec<(Call, Histogram<u64>)> {
        let all = Call::ALL.iter().zip(&self.latencies);
        let all = all.map(|(call, histogram)| (*call, lock(histogram).clone()));
        all.filter(|(_, histogram)| !histogram.is_empty()).collect()
    }

    pub(crate) fn lateness(&self) -> Histogram<u64> {
        lock(&self.lateness).clone()
    }
}

fn histogram() -> anyhow::Result<Histogram<u64>> {
    Histogram::new_with_bounds(1, LATENCY_MAX_US, 3).context("fixed bounds that make sense")
}

/// 127.1.0.1, 127.1.0.2, …: all of them are this machine.
fn addresses(people: usize) -> Vec<Option<IpAddr>> {
    let count = people.div_ceil(PEOPLE_PER_ADDRESS).clamp(1, ADDRESSES_MAX);
    let address = |index: usize| {
        let [.., high, low] = (index + 1).to_be_bytes();
        Some(IpAddr::V4(Ipv4Addr::new(127, 1, high, low)))
    };
    (0..count).map(address).collect()
}

/// An address of a network that is for benchmarks only (RFC 2544), 198.18.0.0/15.
fn invented(who: usize) -> Ipv4Addr {
    let [.., high, low] = who.to_be_bytes();
    Ipv4Addr::new(198, 18, high, low)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX).max(1)
}
