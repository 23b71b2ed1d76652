//! A TCP proxy between the service and Postgres that can keep back the answer to a commit, or all of them
//! for a moment.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// What a service sends to commit.
const COMMIT: &[u8] = b"COMMIT";

/// The proxy. It runs until the test ends.
pub struct Proxy {
    address: SocketAddr,
    keeps_commits: Arc<AtomicBool>,
    delay_ms: Arc<AtomicU64>,
}

impl Proxy {
    /// To the server of this database URL.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn to(database_url: &str) -> Self {
        let server = host(database_url).to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
        let address = listener.local_addr().expect("bound");
        let keeps_commits = Arc::new(AtomicBool::new(false));
        let delay_ms = Arc::new(AtomicU64::new(0));
        let (keeps, delay) = (keeps_commits.clone(), delay_ms.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await;
                let Ok(server) = server else { continue };
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let mute = Arc::new(AtomicBool::new(false));
                tokio::spawn(requests(from_client, to_server, keeps.clone(), mute.clone()));
                tokio::spawn(answers(from_server, to_client, mute, delay.clone()));
            }
        });
        Self { address, keeps_commits, delay_ms }
    }

    /// The same database by way of the proxy.
    ///
    /// # Panics
    /// When that is no database URL.
    #[must_use]
    pub fn url(&self, database_url: &str) -> String {
        database_url.replace(host(database_url), &self.address.to_string())
    }

    /// From here on every answer takes so many milliseconds longer: whoever asks has to wait for it.
    pub fn delay_answers(&self, ms: u64) {
        self.delay_ms.store(ms, Ordering::Release);
    }

    /// From here on commits reach the server, and the service hears nothing of them.
    pub fn keep_answers_to_commits(&self) {
        self.keeps_commits.store(true, Ordering::Release);
    }
}

fn host(database_url: &str) -> &str {
    let rest = database_url.split_once('@').expect("a user").1;
    rest.split_once('/').expect("a database").0
}

async fn requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    keeps: Arc<AtomicBool>,
    mute: Arc<AtomicBool>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count) = from.read(&mut bytes).await {
        let commits = bytes[..count].windows(COMMIT.len()).any(|window| window == COMMIT);
        if commits && keeps.load(Ordering::Acquire) {
            mute.store(true, Ordering::Release);
        }
        if count == 0 || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mute: Arc<AtomicBool>,
    delay_ms: Arc<AtomicU64>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count) = from.read(&mut bytes).await {
        if count == 0 {
            return;
        }
        let kept = mute.load(Ordering::Acquire);
        tokio::time::sleep(Duration::from_millis(delay_ms.load(Ordering::Acquire))).await;
        if !kept && to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
