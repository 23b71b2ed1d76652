//! The connections to Postgres, and what bounds them.

use std::str::FromStr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgPool, Postgres};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinSet;

use super::StoreError;
use crate::clock::Pause;

/// How long to wait for a connection of the pool. The library's default is 30 s, for all of which
/// it would retry a refused connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_millis(300);
/// How long a transaction waits for its turn before it is given up.
const WRITER_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long nothing is asked after Postgres could not be reached: whoever is queued for it then
/// fails at once, instead of each after `ACQUIRE_TIMEOUT`, one behind the other.
const OUTAGE_PAUSE: Duration = Duration::from_millis(200);
/// Connections that transactions leave to reads, so that a sale's rush does not blind the rest.
const READER_CONNECTIONS: u32 = 2;
/// A statement of ours takes a few milliseconds.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(2);
/// An answer that has not come by then, from a server that ends its statements earlier, is not to
/// be waited for: the server or the way to it is gone, and says nothing of it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// The server ends a transaction's statement after less than this. When it has not, it cannot be heard
/// any more, and the connection is given up.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(4);
/// How long a connection that comes back to the pool may take to show that it is alive.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);
/// A lock is held for as long as one transaction.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);
/// A transaction whose owner is gone is ended, with its locks.
const IDLE_IN_TRANSACTION_TIMEOUT: Duration = Duration::from_secs(3);

/// The sale's store. Every statement goes through it.
pub struct Store {
    pool: PgPool,
    writers: Semaphore,
    /// How long a transaction may take.
    pub(super) transaction_timeout: Duration,
    outage: Pause,
    /// Connections given out so far.
    given: AtomicU64,
}

impl Store {
    /// A store that connects when it is first asked.
    pub fn new(url: &SecretString, connections: u32) -> Result<Self, sqlx::Error> {
        let writers = connections.saturating_sub(READER_CONNECTIONS).max(1);
        Ok(Self {
            pool: pool(options(url)?, connections, STATEMENT_TIMEOUT),
            writers: Semaphore::new(writers as usize),
            transaction_timeout: TRANSACTION_TIMEOUT,
            outage: Pause::default(),
            given: AtomicU64::new(0),
        })
    }

    /// The writers' own store, whose connections are made and used by their threads alone. A
    /// connection that has died is found out by the first statement, and the batch tried again.
    pub fn for_writers(url: &SecretString, connections: u32) -> Result<Self, sqlx::Error> {
        let pool = pool_options(connections).test_before_acquire(false);
        Ok(Self {
            pool: pool.connect_lazy_with(bounded(options(url)?, STATEMENT_TIMEOUT)),
            writers: Semaphore::new(connections as usize),
            transaction_timeout: TRANSACTION_TIMEOUT,
            outage: Pause::default(),
            given: AtomicU64::new(0),
        })
    }

    /// A store for one report, with statements that may take as long as `statement_timeout`.
    pub fn for_report(
        url: &SecretString,
        statement_timeout: Duration,
    ) -> Result<Self, sqlx::Error> {
        Ok(Self {
            pool: pool(options(url)?, 1, statement_timeout),
            writers: Semaphore::new(1),
            transaction_timeout: statement_timeout,
            outage: Pause::default(),
            given: AtomicU64::new(0),
        })
    }

    /// A connection for single statements. A request's future may own it, but no transaction.
    pub async fn connection(&self) -> Result<PoolConnection<Postgres>, StoreError> {
        if self.outage.is_on() {
            return Err(StoreError::Unavailable(None));
        }
        let given_before = self.given.load(Relaxed);
        match self.pool.acquire().await {
            Ok(connection) => {
                self.given.fetch_add(1, Relaxed);
                Ok(connection)
            }
            Err(error) => {
                // With all connections made it was only busy, and slow if somebody else got one.
                let is_full = self.pool.size() >= self.pool.options().get_max_connections();
                if !is_full && self.given.load(Relaxed) == given_before {
                    tracing::warn!(error = %error, "Postgres cannot be reached");
                    self.outage.begin(OUTAGE_PAUSE);
                }
                Err(error.into())
            }
        }
    }

    /// Makes all connections, so that no rush has to wait for them. What cannot be made now is made
    /// when it is needed.
    pub async fn warm_up(&self) {
        let connections = self.pool.options().get_max_connections();
        let mut tasks = JoinSet::new();
        for _ in 0..connections {
            let pool = self.pool.clone();
            tasks.spawn(async move { pool.acquire().await });
        }
        // All of them are kept until the last one is there, or none would be the last one.
        let made = tasks.join_all().await;
        tracing::debug!(made = made.iter().filter(|made| made.is_ok()).count(), "connected");
    }

    /// Bounds single statements in tasks of their own. (A request is bounded anyway.) Not for
    /// transactions: dropped half-way, they are not ended.
    pub async fn bounded<T>(
        &self,
        statements: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, statements).await;
        answer.unwrap_or_else(|_| {
            self.outage.begin(OUTAGE_PAUSE);
            Err(StoreError::Unavailable(None))
        })
    }

    /// The right to run a transaction, in order of asking.
    pub(super) async fn writer(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        match tokio::time::timeout(WRITER_WAIT_MAX, self.writers.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(StoreError::Unavailable(None)),
        }
    }

    /// Sets the gauges of the connections, under the name of whom they belong to.
    pub fn measure(&self, pool: &'static str) {
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        let gauge = |name: &'static str, value: u32| {
            metrics::gauge!(name, "pool" => pool).set(f64::from(value));
        };
        gauge("checkout_database_connections", self.pool.size());
        gauge("checkout_database_connections_idle", idle);
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Reads the URL; the error does not repeat it.
pub(super) fn options(url: &SecretString) -> Result<PgConnectOptions, sqlx::Error> {
    Ok(PgConnectOptions::from_str(url.expose_secret())?.application_name("stanchion-checkout"))
}

fn pool(options: PgConnectOptions, connections: u32, statement_timeout: Duration) -> PgPool {
    pool_options(connections).connect_lazy_with(bounded(options, statement_timeout))
}

fn bounded(options: PgConnectOptions, statement_timeout: Duration) -> PgConnectOptions {
    let ms = |duration: Duration| duration.as_millis().to_string();
    options.options([
        ("statement_timeout", ms(statement_timeout)),
        ("lock_timeout", ms(LOCK_TIMEOUT)),
        ("idle_in_transaction_session_timeout", ms(IDLE_IN_TRANSACTION_TIMEOUT)),
    ])
}

fn pool_options(connections: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // Kept: making one takes longer than a rush has time.
        .idle_timeout(None)
        // The library waits without bound for a sign of life from a connection that comes back. One
        // whose statement was given up would take its place in the pool until TCP gives up too.
        .after_release(|connection, _| {
            Box::pin(async move {
                let alive = tokio::time::timeout(RELEASE_TIMEOUT, connection.ping()).await;
                alive.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map(|()| true)
            })
        })
}
