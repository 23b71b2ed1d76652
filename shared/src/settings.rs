//! Configuration that both services read, from flags or `STANCHION_…` variables.
//!
//! `value_name` is the variable's name, so that a wrong value stops the start with that name.

use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, ValueEnum};
use http::HeaderValue;
use secrecy::SecretString;

use crate::ops::{Access, InvalidAccess, Sessions};
use crate::secret::BearerToken;

/// What both services are told.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Redis: redis://, rediss://, redis-cluster:// or redis-sentinel:// URL.
    #[arg(
        long,
        env = "STANCHION_REDIS_URL",
        value_name = "STANCHION_REDIS_URL",
        hide_env_values = true,
        default_value = "redis://127.0.0.1:6379"
    )]
    pub redis_url: SecretString,

    /// Bearer token of the ops listener, at least 16 characters. There is no default.
    #[arg(
        long,
        env = "STANCHION_OPS_TOKEN",
        value_name = "STANCHION_OPS_TOKEN",
        hide_env_values = true
    )]
    pub ops_token: BearerToken,

    /// A second token for it, for whoever may read everything and change nothing. Left out: there is none.
    #[arg(
        long,
        env = "STANCHION_OPS_READ_TOKEN",
        value_name = "STANCHION_OPS_READ_TOKEN",
        hide_env_values = true
    )]
    pub ops_read_token: Option<BearerToken>,

    /// Origins that browsers may call from, comma-separated (https://shop.example). None by default.
    #[arg(
        long,
        env = "STANCHION_CORS_ORIGINS",
        value_name = "STANCHION_CORS_ORIGINS",
        value_delimiter = ',',
        value_parser = origin
    )]
    pub cors_origins: Vec<HeaderValue>,

    /// The `iss` of admission tokens; the same for the waiting room and the checkout.
    #[arg(
        long,
        env = "STANCHION_ISSUER",
        value_name = "STANCHION_ISSUER",
        default_value = "stanchion"
    )]
    pub issuer: String,

    /// Connections accepted at once on each listener.
    #[arg(
        long,
        env = "STANCHION_MAX_CONNECTIONS",
        value_name = "STANCHION_MAX_CONNECTIONS",
        default_value_t = 50_000,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub max_connections: u32,

    /// A request without an answer by then gets 503, in seconds.
    #[arg(
        long,
        env = "STANCHION_REQUEST_TIMEOUT_SECONDS",
        value_name = "STANCHION_REQUEST_TIMEOUT_SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=300)
    )]
    pub request_timeout_seconds: u64,

    /// How long a shutdown waits for what is under way, in seconds.
    #[arg(
        long,
        env = "STANCHION_SHUTDOWN_SECONDS",
        value_name = "STANCHION_SHUTDOWN_SECONDS",
        default_value_t = 20,
        value_parser = clap::value_parser!(u64).range(0..=300)
    )]
    pub shutdown_seconds: u64,

    /// What is logged: a level, or directives such as info,checkout=debug.
    #[arg(long, env = "STANCHION_LOG", value_name = "STANCHION_LOG", default_value = "info")]
    pub log: String,

    /// How it is logged.
    #[arg(
        long,
        env = "STANCHION_LOG_FORMAT",
        value_name = "STANCHION_LOG_FORMAT",
        default_value = "json"
    )]
    pub log_format: LogFormat,
}

impl Common {
    /// A request without an answer by then gets 503.
    pub fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.request_timeout_seconds)
    }

    /// Who may call the ops listener; with `sessions` also by signing in.
    ///
    /// # Errors
    /// When the two tokens are the same.
    pub fn ops_access(&self, sessions: Option<Sessions>) -> Result<Access, InvalidAccess> {
        Access::new(self.ops_token.clone(), self.ops_read_token.clone(), sessions)
    }

    /// How long a shutdown waits for what is under way.
    pub fn shutdown_timeout(&self) -> Duration {
        Duration::from_secs(self.shutdown_seconds)
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For people.
    Pretty,
}

/// Reads the command line and the environment, or ends the process with what is wrong. A secret that is
/// wrong is named and not shown.
pub fn parse<T: Parser>() -> T {
    T::try_parse().unwrap_or_else(|error| hide_secret(error).exit())
}

fn hide_secret(mut error: clap::Error) -> clap::Error {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        _ => return error,
    };
    if ["TOKEN>", "KEY>", "SECRETS>", "DATABASE_URL>", "REDIS_URL>"]
        .iter()
        .any(|end| argument.ends_with(end))
    {
        let hidden = ContextValue::String("(not shown)".to_owned());
        error.insert(ContextKind::InvalidValue, hidden);
    }
    error
}

fn origin(text: &str) -> Result<HeaderValue, &'static str> {
    const EXPECTED: &str = "must be an origin such as https://shop.example, without a path";
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest {
        Some(host) if !host.is_empty() && !host.contains(['/', '*', ' ']) => {
            HeaderValue::from_str(text).map_err(|_| EXPECTED)
        }
        _ => Err(EXPECTED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_secret_is_named_and_not_shown() {
        #[derive(Debug, Parser)]
        struct Settings {
            #[command(flatten)]
            _common: Common,
        }
        let error = Settings::try_parse_from(["test", "--ops-token", "hunter2"]);
        let text = hide_secret(error.expect_err("too short")).to_string();
        assert!(text.contains("STANCHION_OPS_TOKEN") && text.contains("16"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }

    #[test]
    fn an_origin_has_a_scheme_and_a_host_and_nothing_else() {
        assert!(origin("https://shop.example").is_ok());
        assert!(origin("http://127.0.0.1:8082").is_ok());
        for bad in ["*", "shop.example", "https://", "https://a/b", "https://*.example"] {
            assert!(origin(bad).is_err(), "{bad}");
        }
    }
}
