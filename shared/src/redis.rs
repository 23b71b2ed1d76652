//! The only file that names the Redis client, so that a change of client is one file.
//!
//! Everything the services do in Redis is a Lua script, one atomic step each, that answers with
//! JSON; [`Redis::run`] sends it and reads the answer into a type.

use std::time::Duration;

use fred::clients::Client;
use fred::interfaces::{ClientLike, KeysInterface};
use fred::types::config::{Config, ReconnectPolicy, TcpConfig, UnresponsiveConfig};
use fred::types::{Builder, InfoKind};
use serde::de::DeserializeOwned;

/// A command that has no answer by then has failed. The client has no such bound of its own.
const COMMAND_TIMEOUT: Duration = Duration::from_millis(250);
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// A connection that owes an answer for this long is taken down and made anew.
const UNRESPONSIVE_AFTER: Duration = Duration::from_secs(1);
const UNRESPONSIVE_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Commands waiting for a connection; beyond this they fail at once.
const BUFFERED_COMMANDS_MAX: usize = 10_000;
const RECONNECT_DELAY_MS_MIN: u32 = 50;
const RECONNECT_DELAY_MS_MAX: u32 = 1_000;

/// Why Redis gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum RedisError {
    /// Not reachable, not answering in time, or the script failed.
    #[error("Redis: {0}")]
    Command(#[from] fred::error::Error),
    /// No connection stands at this moment.
    #[error("Redis: not connected")]
    NotConnected,
    /// The script's answer is not what the caller expects.
    #[error("Redis: a script answered in another form than expected")]
    Answer(#[from] serde_json::Error),
}

/// A Lua script: one atomic step. It must answer with a JSON text.
pub struct Script(fred::types::scripts::Script);

impl Script {
    /// A script from its text.
    pub fn new(lua: &str) -> Self {
        Self(fred::types::scripts::Script::from_lua(lua))
    }
}

/// A connection to Redis that mends itself. Cheap to clone.
#[derive(Clone)]
pub struct Redis {
    client: Client,
}

impl Redis {
    /// Starts connecting to `redis://…`, `rediss://…`, `redis-cluster://…` or `redis-sentinel://…`
    /// and waits for the first connection for at most half a second: a service starts without
    /// Redis and says in its readiness that it is missing.
    pub async fn connect(url: &str) -> Result<Self, RedisError> {
        let client = Builder::from_config(Config::from_url(url)?)
            .with_performance_config(|performance| {
                performance.default_command_timeout = COMMAND_TIMEOUT;
            })
            .with_connection_config(|connection| {
                connection.connection_timeout = CONNECT_TIMEOUT;
                connection.internal_command_timeout = CONNECT_TIMEOUT;
                // With the default of 3 a command is sent again after a cut connection, and
                // would take effect twice.
                connection.max_command_attempts = 1;
                connection.max_command_buffer_len = BUFFERED_COMMANDS_MAX;
                connection.tcp = TcpConfig { nodelay: Some(true), ..TcpConfig::default() };
                connection.unresponsive = UnresponsiveConfig {
                    max_timeout: Some(UNRESPONSIVE_AFTER),
                    interval: UNRESPONSIVE_CHECK_INTERVAL,
                };
            })
            .set_policy(ReconnectPolicy::new_exponential(
                0, // for ever
                RECONNECT_DELAY_MS_MIN,
                RECONNECT_DELAY_MS_MAX,
                2,
            ))
            .build()?;
        // The task ends with the client.
        drop(client.connect());
        if tokio::time::timeout(CONNECT_TIMEOUT, client.wait_for_connect()).await.is_err() {
            tracing::warn!("Redis not reachable yet, connecting in the background");
        }
        Ok(Self { client })
    }

    /// Runs a script and reads its JSON answer. All keys must carry the same hash tag.
    ///
    /// Fails at once when there is no connection, and after 250 ms when there is no answer; the
    /// script may have run all the same, so it must be safe to run again.
    pub async fn run<T: DeserializeOwned>(
        &self,
        script: &Script,
        keys: Vec<String>,
        arguments: Vec<String>,
    ) -> Result<T, RedisError> {
        if !self.client.is_connected() {
            return Err(RedisError::NotConnected);
        }
        let answer: String = script.0.evalsha_with_reload(&self.client, keys, arguments).await?;
        Ok(serde_json::from_str(&answer)?)
    }

    /// The value of a key, if it is there.
    pub async fn get(&self, key: &str) -> Result<Option<String>, RedisError> {
        if !self.client.is_connected() {
            return Err(RedisError::NotConnected);
        }
        Ok(self.client.get(key).await?)
    }

    /// The eviction policy the server runs with; anything but `noeviction` may forget people.
    pub async fn eviction_policy(&self) -> Result<String, RedisError> {
        if !self.client.is_connected() {
            return Err(RedisError::NotConnected);
        }
        let info: String = self.client.info(Some(InfoKind::Memory)).await?;
        Ok(info
            .lines()
            .find_map(|line| line.strip_prefix("maxmemory_policy:"))
            .unwrap_or("unknown")
            .trim()
            .to_owned())
    }

    /// Closes the connection.
    pub async fn close(&self) {
        // Nothing is left to do about a connection that cannot be closed in order.
        let _ = self.client.quit().await;
    }
}
