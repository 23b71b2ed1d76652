//! The load: plain HTTP/1.1 over kept connections, with as little work of its own as can be.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use futures::future::try_join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

use crate::people::People;
use crate::place::Place;
use crate::report::Figures;

const WARM_UP: Duration = Duration::from_secs(1);

/// One connection.
struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connection {
    async fn open(place: &Place) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(place.address).await.context("the service listens")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, request: Vec::with_capacity(2_048), answer: Vec::with_capacity(4_096) })
    }

    /// Sends the next request; gives the status when the whole answer is there.
    async fn ask(&mut self, people: &People, sector: &str) -> anyhow::Result<u16> {
        people.next_request(sector, &mut self.request);
        self.stream.write_all(&self.request).await?;
        self.answer.clear();
        loop {
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                bail!("cut off after {:?}", String::from_utf8_lossy(&self.answer));
            }
            if let Some(status) = complete(&self.answer)? {
                return Ok(status);
            }
        }
    }
}

/// The status of an answer that is there as a whole.
fn complete(answer: &[u8]) -> anyhow::Result<Option<u16>> {
    const LENGTH: &[u8] = b"\r\ncontent-length: ";
    let Some(end) = find(answer, b"\r\n\r\n") else { return Ok(None) };
    let head = &answer[..end + 2];
    let at = find(head, LENGTH).context("a content-length")? + LENGTH.len();
    let digits = head[at..].iter().take_while(|byte| byte.is_ascii_digit());
    let length = digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'));
    let status = std::str::from_utf8(&head[9..12])?.parse()?;
    Ok((answer.len() >= end + 4 + length).then_some(status))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// Every client asks, waits for the answer, and asks again.
pub(crate) async fn closed_loop(
    place: &Place,
    people: &People,
    clients: usize,
    measured: Duration,
) -> anyhow::Result<Figures> {
    let from = Instant::now() + WARM_UP;
    let until = from + measured;
    let client = async || {
        let mut connection = Connection::open(place).await?;
        let mut waits = Vec::new();
        loop {
            let asked_at = Instant::now();
            if asked_at >= until {
                return anyhow::Ok(waits);
            }
            let status = connection.ask(people, &place.sector).await?;
            anyhow::ensure!(
                status == 201,
                "answered {status}: {}",
                String::from_utf8_lossy(&connection.answer)
            );
            let now = Instant::now();
            if asked_at >= from && now <= until {
                waits.push(now - asked_at);
            }
        }
    };
    let waits = try_join_all((0..clients).map(|_| client())).await?;
    Ok(Figures::new(waits.concat(), measured))
}

/// Requests come at a fixed rate, whether or not the ones before are answered; a wait begins when the
/// request was due.
pub(crate) async fn open_loop(
    place: &Place,
    people: &People,
    clients: usize,
    per_second: f64,
    measured: Duration,
) -> anyhow::Result<Figures> {
    let begin = Instant::now() + Duration::from_millis(200);
    let from = begin + WARM_UP;
    let until = from + measured;
    let turn = AtomicUsize::new(0);
    let client = async || {
        let mut connection = Connection::open(place).await?;
        let mut waits = Vec::new();
        loop {
            let n = turn.fetch_add(1, Ordering::Relaxed);
            #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 requests")]
            let due = begin + Duration::from_secs_f64(n as f64 / per_second);
            if due >= until {
                return anyhow::Ok(waits);
            }
            sleep_until(due).await;
            let status = connection.ask(people, &place.sector).await?;
            anyhow::ensure!(status == 201, "answered {status}");
            if due >= from {
                waits.push(due.elapsed());
            }
        }
    };
    let waits = try_join_all((0..clients).map(|_| client())).await?;
    Ok(Figures::new(waits.concat(), measured))
}

/// So many requests, over some connections, as fast as they are answered.
pub(crate) async fn rush(
    place: &Place,
    people: &People,
    clients: usize,
    requests: usize,
) -> anyhow::Result<Rush> {
    let connections = try_join_all((0..clients).map(|_| Connection::open(place))).await?;
    let left = Arc::new(AtomicUsize::new(requests));
    let begin = Instant::now();
    let client = async |mut connection: Connection| {
        let mut statuses = BTreeMap::new();
        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
        {
            *statuses.entry(connection.ask(people, &place.sector).await?).or_insert(0) += 1;
        }
        anyhow::Ok(statuses)
    };
    let all = try_join_all(connections.into_iter().map(client)).await?;
    let seconds = begin.elapsed().as_secs_f64();
    let mut statuses: BTreeMap<u16, usize> = BTreeMap::new();
    for (status, count) in all.into_iter().flatten() {
        *statuses.entry(status).or_default() += count;
    }
    Ok(Rush { seconds, statuses })
}

/// What became of a rush.
pub(crate) struct Rush {
    pub(crate) seconds: f64,
    statuses: BTreeMap<u16, usize>,
}

impl Rush {
    pub(crate) fn count(&self, status: u16) -> usize {
        self.statuses.get(&status).copied().unwrap_or(0)
    }

    pub(crate) fn answered(&self) -> usize {
        self.statuses.values().sum()
    }
}

impl fmt::Display for Rush {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.2} s, answers by status {:?}", self.seconds, self.statuses)
    }
}
