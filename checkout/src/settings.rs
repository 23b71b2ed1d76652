//! Configuration, from flags or `STANCHION_…` variables.
//!
//! `value_name` is the variable's name, so that a wrong value stops the start with that name.

mod payments;
mod shop_webhook;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use clap::{Args, Parser, ValueEnum, value_parser};
use secrecy::SecretString;
use shared::secret::{BearerToken, HmacKey};
use shared::settings::Common;

use crate::sale::issued_key::KeyPolicy;
pub use payments::PaymentSettings;
pub use shop_webhook::ShopWebhook;

/// What the checkout is told.
#[derive(Debug, Clone, Parser)]
pub struct Settings {
    /// What both services are told.
    #[command(flatten)]
    pub common: Common,

    /// Postgres, which holds the truth.
    #[command(flatten)]
    pub database: DatabaseUrl,

    /// Address of the public listener.
    #[arg(
        long,
        env = "STANCHION_LISTEN",
        value_name = "STANCHION_LISTEN",
        default_value = "0.0.0.0:8081"
    )]
    pub listen: SocketAddr,

    /// Address of the ops listener.
    #[arg(
        long,
        env = "STANCHION_OPS_LISTEN",
        value_name = "STANCHION_OPS_LISTEN",
        default_value = "127.0.0.1:9081"
    )]
    pub ops_listen: SocketAddr,

    /// The waiting room's public keys.
    #[command(flatten)]
    pub jwks: Jwks,

    /// Who takes the money.
    #[command(flatten)]
    pub payments: PaymentSettings,

    /// Bearer token of the service that confirms reservations, at least 16 characters.
    #[arg(
        long,
        env = "STANCHION_SERVICE_TOKEN",
        value_name = "STANCHION_SERVICE_TOKEN",
        hide_env_values = true
    )]
    pub service_token: BearerToken,

    /// Key that reservation tokens are signed with, at least 64 hex digits. The same for every
    /// instance.
    #[arg(
        long,
        env = "STANCHION_RESERVATION_KEY",
        value_name = "STANCHION_RESERVATION_KEY",
        hide_env_values = true
    )]
    pub reservation_key: HmacKey,

    /// Requests per second that one person may make in the long run; 0 is no limit. Each instance
    /// counts for itself: divide by their number.
    #[arg(
        long,
        env = "STANCHION_USER_RATE_PER_SECOND",
        value_name = "STANCHION_USER_RATE_PER_SECOND",
        default_value_t = 5,
        value_parser = value_parser!(u32).range(0..=10_000)
    )]
    pub user_rate_per_second: u32,

    /// Requests that one person may make at once; 0 is no limit.
    #[arg(
        long,
        env = "STANCHION_USER_RATE_BURST",
        value_name = "STANCHION_USER_RATE_BURST",
        default_value_t = 10,
        value_parser = value_parser!(u32).range(0..=100_000)
    )]
    pub user_rate_burst: u32,

    /// Whether instances take turns at a sector by a lease in Redis. It only manages contention.
    #[arg(
        long,
        env = "STANCHION_SECTOR_LEASE",
        value_name = "STANCHION_SECTOR_LEASE",
        default_value = "on"
    )]
    pub sector_lease: Switch,

    /// How long a request for places waits for the decision before it is answered 202, in
    /// milliseconds.
    #[arg(
        long,
        env = "STANCHION_DECISION_WAIT_MS",
        value_name = "STANCHION_DECISION_WAIT_MS",
        default_value_t = 2_000,
        value_parser = value_parser!(u64).range(0..=60_000)
    )]
    pub decision_wait_ms: u64,

    /// Whose idempotency keys people may use: their client's, ours (POST /v1/idempotency-keys), or
    /// either.
    #[arg(
        long,
        env = "STANCHION_IDEMPOTENCY_KEYS",
        value_name = "STANCHION_IDEMPOTENCY_KEYS",
        default_value = "either"
    )]
    pub idempotency_keys: KeyPolicy,

    /// Whether to start without applying migrations (true or false).
    #[arg(
        long,
        env = "STANCHION_SKIP_MIGRATIONS",
        value_name = "STANCHION_SKIP_MIGRATIONS",
        num_args = 0..=1,
        default_value_t = false,
        default_missing_value = "true",
        action = clap::ArgAction::Set
    )]
    pub skip_migrations: bool,

    /// Connections to Postgres. Two fifths of them, at most 8, are the writers' own; of the rest two
    /// are kept for reads.
    #[arg(
        long,
        env = "STANCHION_DATABASE_CONNECTIONS",
        value_name = "STANCHION_DATABASE_CONNECTIONS",
        default_value_t = 10,
        value_parser = value_parser!(u32).range(3..=500)
    )]
    pub database_connections: u32,

    /// Pause between two looks for holds whose time has passed, in milliseconds.
    #[arg(
        long,
        env = "STANCHION_SWEEP_INTERVAL_MS",
        value_name = "STANCHION_SWEEP_INTERVAL_MS",
        default_value_t = 1_000,
        value_parser = value_parser!(u64).range(10..=3_600_000)
    )]
    pub sweep_interval_ms: u64,

    /// How long a decided request is answered again the same, in seconds; reservation tokens are
    /// good for as long.
    #[arg(
        long,
        env = "STANCHION_IDEMPOTENCY_RETENTION_SECONDS",
        value_name = "STANCHION_IDEMPOTENCY_RETENTION_SECONDS",
        default_value_t = 86_400,
        value_parser = value_parser!(u32).range(60..=31_536_000)
    )]
    pub idempotency_retention_seconds: u32,

    /// How the shop is told what happens to reservations.
    #[command(flatten)]
    pub shop_webhook: ShopWebhook,
}

/// Where Postgres is.
#[derive(Debug, Clone, Args)]
pub struct DatabaseUrl {
    /// Postgres: postgres://user:password@host:port/database
    #[arg(
        long,
        env = "STANCHION_DATABASE_URL",
        value_name = "STANCHION_DATABASE_URL",
        hide_env_values = true
    )]
    pub database_url: SecretString,
}

/// Where the admission keys come from: exactly one of the two.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct Jwks {
    /// The waiting room's /.well-known/jwks.json.
    #[arg(
        long,
        env = "STANCHION_JWKS_URL",
        value_name = "STANCHION_JWKS_URL",
        value_parser = http_url
    )]
    pub jwks_url: Option<String>,

    /// A file with the same content.
    #[arg(long, env = "STANCHION_JWKS_FILE", value_name = "STANCHION_JWKS_FILE")]
    pub jwks_file: Option<PathBuf>,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

impl Settings {
    /// Refuses what cannot be meant together.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.listen != self.ops_listen || self.listen.port() == 0,
            "STANCHION_LISTEN and STANCHION_OPS_LISTEN must be two addresses"
        );
        ensure!(
            Duration::from_millis(self.decision_wait_ms) < self.common.request_timeout(),
            "STANCHION_DECISION_WAIT_MS must be less than STANCHION_REQUEST_TIMEOUT_SECONDS"
        );
        self.shop_webhook.check()?;
        self.payments.check()
    }

    /// Pause between two looks for holds whose time has passed.
    pub fn sweep_interval(&self) -> Duration {
        Duration::from_millis(self.sweep_interval_ms)
    }
}

fn http_url(text: &str) -> Result<String, &'static str> {
    if text.starts_with("http://") || text.starts_with("https://") {
        Ok(text.to_owned())
    } else {
        Err("must be an http:// or https:// URL")
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    const NEEDED: [&str; 9] = [
        "checkout",
        "--database-url=postgres://localhost/stanchion",
        "--ops-token=0123456789abcdef",
        "--service-token=0123456789abcdef",
        "--reservation-key=0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
        "--jwks-file=jwks.json",
        "--listen=127.0.0.1:0",
        "--ops-listen=127.0.0.1:0",
        "--skip-migrations=false",
    ];

    fn parsed(more: &[&str]) -> Result<Settings, clap::Error> {
        Settings::try_parse_from(NEEDED.iter().chain(more))
    }

    #[test]
    fn every_setting_is_a_flag_and_a_variable_of_one_name() {
        let command = Settings::command();
        command.clone().debug_assert();
        let settings = command.get_arguments().filter(|argument| argument.get_id() != "help");
        for argument in settings {
            let variable = argument.get_env().and_then(|name| name.to_str());
            let variable = variable.expect("every setting has a variable");
            assert!(variable.starts_with("STANCHION_"), "{variable}");
            let shown = argument.get_value_names().expect("every setting takes a value");
            assert_eq!(shown, [variable], "a wrong value is reported under this name");
            assert!(argument.get_long().is_some() && argument.get_help().is_some(), "{variable}");
        }
    }

    #[test]
    fn what_cannot_be_meant_together_is_refused_by_name() {
        let settings = parsed(&[]).expect("everything that is needed is there");
        assert!(settings.check().is_ok());
        let both = parsed(&["--jwks-url=http://localhost/"]).expect_err("one of the two");
        assert!(both.to_string().contains("STANCHION_JWKS_"), "{both}");
        let mut same = parsed(&[]).expect("everything that is needed is there");
        same.listen.set_port(1);
        same.ops_listen.set_port(1);
        let same = same.check().expect_err("one address").to_string();
        assert!(same.contains("STANCHION_LISTEN"), "{same}");
        let unsigned = parsed(&["--shop-webhook-url=http://localhost/"]).expect("a URL");
        let unsigned = unsigned.check().expect_err("no secret").to_string();
        assert!(unsigned.contains("STANCHION_SHOP_WEBHOOK_SECRETS"), "{unsigned}");
    }
}
