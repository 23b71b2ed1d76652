//! A room's settings, as operators send them and as they are kept.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// A room's settings. What is left out has the default named here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoomSettings {
    /// What people see, 1 to 200 characters.
    pub name: String,
    /// When people are let in for the first time; before it they gather. Left out: at once.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub opens_at: Option<OffsetDateTime>,
    /// In which order people are called.
    #[serde(default)]
    pub queueing_method: QueueingMethod,
    /// Tokens issued in any 60 seconds at most, 1 to 600,000. Default 600.
    #[serde(default = "defaults::rate")]
    pub admission_rate_per_minute: u64,
    /// Sessions at once at most, 1 to 10,000,000. Default 1,000.
    #[serde(default = "defaults::sessions")]
    pub max_active_sessions: u64,
    /// How long a called person has to come, 5 to 3,600. Default 120.
    #[serde(default = "defaults::claim_window")]
    pub claim_window_seconds: u64,
    /// How long an admission token is good, 1 to 86,400. Default 600.
    #[serde(default = "defaults::session")]
    pub session_duration_seconds: u64,
    /// People waiting at once at most, 1 to 100,000,000. Left out: no bound but that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_queue_length: Option<u64>,
    /// How one person is told from another.
    #[serde(default)]
    pub identity: Identity,
    /// Where an admitted person goes on to: an http(s) URL without a fragment.
    pub checkout_url: String,
    /// Origins that a person may be sent back to. Default none.
    #[serde(default)]
    pub return_origins: Vec<String>,
    /// What join and claim do while Redis does not answer.
    #[serde(default)]
    pub on_store_error: OnStoreError,
}

/// In which order people are called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueingMethod {
    /// First come, first served.
    #[default]
    Fifo,
}

/// How one person is told from another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// By the browser's cookie.
    #[default]
    Anonymous,
}

/// What join and claim do while Redis does not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnStoreError {
    /// Answer 503 with Retry-After.
    #[default]
    Closed,
}

mod defaults {
    pub(super) fn rate() -> u64 {
        600
    }
    pub(super) fn sessions() -> u64 {
        1_000
    }
    pub(super) fn claim_window() -> u64 {
        120
    }
    pub(super) fn session() -> u64 {
        600
    }
}

/// A field and what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {expected}")]
pub struct InvalidSettings {
    field: &'static str,
    expected: String,
}

impl RoomSettings {
    /// Checks every bound.
    pub fn validate(&self) -> Result<(), InvalidSettings> {
        let wrong =
            |field, expected: &str| Err(InvalidSettings { field, expected: expected.to_owned() });
        if !(1..=200).contains(&self.name.chars().count()) {
            return wrong("name", "1 to 200 characters");
        }
        let address = self.checkout_url.parse::<http::Uri>().ok();
        let address_fits = address.is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
        });
        if !address_fits || self.checkout_url.contains('#') {
            return wrong("checkout_url", "an http(s) URL without a fragment");
        }
        if self.opens_at.is_some_and(|at| at.unix_timestamp() < 0) {
            return wrong("opens_at", "a time after 1970");
        }
        let within = [
            ("admission_rate_per_minute", self.admission_rate_per_minute, 1..=600_000),
            ("max_active_sessions", self.max_active_sessions, 1..=10_000_000),
            ("claim_window_seconds", self.claim_window_seconds, 5..=3_600),
            ("session_duration_seconds", self.session_duration_seconds, 1..=86_400),
            ("max_queue_length", self.max_queue_length.unwrap_or(1), 1..=100_000_000),
        ];
        within.into_iter().try_for_each(|(field, value, range)| bounded(field, value, &range))
    }

    /// The opening in milliseconds since the Unix epoch; 0 when it is open from the start.
    pub fn opens_at_ms(&self) -> i128 {
        self.opens_at.map_or(0, |at| at.unix_timestamp_nanos() / 1_000_000)
    }
}

fn bounded(
    field: &'static str,
    value: u64,
    range: &RangeInclusive<u64>,
) -> Result<(), InvalidSettings> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(InvalidSettings { field, expected: format!("{} to {}", range.start(), range.end()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(more: &str) -> Result<RoomSettings, String> {
        let text = format!(r#"{{"name":"A","checkout_url":"https://shop.example/"{more}}}"#);
        let settings: RoomSettings = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        settings.validate().map_err(|e| e.to_string())?;
        Ok(settings)
    }

    #[test]
    fn what_is_left_out_has_its_documented_default() {
        let settings = settings("").expect("valid");
        assert_eq!(settings.admission_rate_per_minute, 600);
        assert_eq!(settings.max_active_sessions, 1_000);
        assert_eq!(settings.claim_window_seconds, 120);
        assert_eq!(settings.session_duration_seconds, 600);
        assert_eq!(settings.opens_at_ms(), 0);
    }

    #[test]
    fn a_value_out_of_bounds_is_refused_with_its_name() {
        for (more, named) in [
            (r#","admission_rate_per_minute":0"#, "admission_rate_per_minute must be 1 to 600000"),
            (r#","claim_window_seconds":4"#, "claim_window_seconds"),
            (r#","max_queue_length":0"#, "max_queue_length"),
            (r#","opens_at":"soon""#, "component"),
            (r#","surprise":1"#, "unknown field `surprise`"),
            (r#","queueing_method":"lifo""#, "unknown variant `lifo`"),
        ] {
            let refusal = settings(more).expect_err(more);
            assert!(refusal.contains(named), "{refusal}");
        }
    }

    #[test]
    fn the_checkout_is_an_address_without_a_fragment() {
        for bad in ["javascript:alert(1)", "/shop", "https://shop.example/#x", "https://"] {
            let text = format!(r#"{{"name":"A","checkout_url":"{bad}"}}"#);
            let settings: RoomSettings = serde_json::from_str(&text).expect("well-formed");
            assert!(settings.validate().is_err(), "{bad}");
        }
    }
}
