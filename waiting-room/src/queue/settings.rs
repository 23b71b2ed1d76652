//! A room's settings, as operators send them and as they are kept.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::brand::{Colour, secure_origin};

const RETURN_ORIGINS_MAX: usize = 100;

/// A room's settings. What is left out has the default named here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoomSettings {
    /// What people see, 1 to 200 characters.
    #[schema(example = "A concert", min_length = 1, max_length = 200)]
    pub name: String,
    /// When people are let in for the first time; before it they gather. Left out: at once.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub opens_at: Option<OffsetDateTime>,
    /// From when on people may join; left out: at once.
    #[serde(
        default,
        with = "time::serde::rfc3339::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub pre_queue_at: Option<OffsetDateTime>,
    /// In which order people are called. Default `random`: who came before the opening is drawn; `fifo`: as
    /// they came; `passthrough`: the room is off; `reject`: nobody is let in.
    #[serde(default)]
    pub queueing_method: QueueingMethod,
    /// Tokens issued in any 60 seconds at most, 1 to 600,000. Default 600.
    #[serde(default = "defaults::rate")]
    #[schema(minimum = 1, maximum = 600_000, example = 600)]
    pub admission_rate_per_minute: u64,
    /// Sessions at once at most, 1 to 10,000,000. Default 1,000.
    #[serde(default = "defaults::sessions")]
    #[schema(minimum = 1, maximum = 10_000_000, example = 1_000)]
    pub max_active_sessions: u64,
    /// How long a called person has to come, 5 to 3,600. Default 120.
    #[serde(default = "defaults::claim_window")]
    #[schema(minimum = 5, maximum = 3_600, example = 120)]
    pub claim_window_seconds: u64,
    /// How long an admission token is good, 1 to 86,400. Default 600.
    #[serde(default = "defaults::session")]
    #[schema(minimum = 1, maximum = 86_400, example = 600)]
    pub session_duration_seconds: u64,
    /// People waiting at once at most, 1 to 100,000,000. Left out: no bound but that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100_000_000)]
    pub max_queue_length: Option<u64>,
    /// A public value, named here in advance, that is mixed into the draw so that not even the
    /// operator can choose its outcome: "the hash of Bitcoin block 900000", 1 to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub draw_beacon: Option<String>,
    /// That value, once it is known, 1 to 1,000 characters. The room does not open before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 1_000)]
    pub draw_beacon_value: Option<String>,
    /// Who may join: `open` everybody, the default; `invite_only` who brings an access code.
    #[serde(default)]
    pub access: Access,
    /// How one person is told from another: `anonymous` by the browser's cookie, the default; `jwt` by
    /// the shop's own user token.
    #[serde(default)]
    pub identity: Identity,
    /// Where an admitted person goes on to: an http(s) URL without a fragment.
    #[schema(example = "https://shop.example/checkout")]
    pub checkout_url: String,
    /// Origins that a person may be sent back to, up to 100. Default none.
    #[serde(default)]
    #[schema(max_items = 100, example = json!(["https://shop.example"]))]
    pub return_origins: Vec<String>,
    /// What join and claim do while Redis does not answer: `closed` answers 503, the default; `open` lets
    /// people through without a place, and rate and cap do not hold then.
    #[serde(default)]
    pub on_store_error: OnStoreError,
    /// What everybody who waits is told besides, by the operator, 1 to 500 characters. Left out: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 500, example = "Doors open an hour later.")]
    pub message: Option<String>,
    /// The page's colour, as `#rrggbb`. Text on it is black or white, whichever is read better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^#[0-9a-fA-F]{6}$", example = "#7a1fa2")]
    pub brand_color: Option<String>,
    /// The page's logo: an https URL of at most 2,000 characters. Left out: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2_000, example = "https://shop.example/logo.svg")]
    pub logo_url: Option<String>,
}

/// In which order people are called, if at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueingMethod {
    /// Who comes before the opening is drawn at random, who comes later follows in order of arrival.
    #[default]
    Random,
    /// First come, first served, also before the opening.
    Fifo,
    /// The room is off: everybody is let through at once, without rate and cap.
    Passthrough,
    /// Nobody is let in.
    Reject,
}

impl QueueingMethod {
    /// The word on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Fifo => "fifo",
            Self::Passthrough => "passthrough",
            Self::Reject => "reject",
        }
    }
}

/// Who may join.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Everybody; who brings a priority code goes to the priority lane.
    #[default]
    Open,
    /// Only who brings an access code.
    InviteOnly,
}

/// How one person is told from another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// By the browser's cookie.
    #[default]
    Anonymous,
    /// By the shop's own user token: the same user always has the same number.
    Jwt,
}

/// What join and claim do while Redis does not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnStoreError {
    /// Answer 503 with Retry-After.
    #[default]
    Closed,
    /// Let people through without a place: rate and cap do not hold then.
    Open,
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
        let origins = &self.return_origins;
        if origins.len() > RETURN_ORIGINS_MAX || !origins.iter().all(|origin| is_origin(origin)) {
            return wrong("return_origins", "up to 100 origins, as in https://shop.example");
        }
        for (field, at) in [("opens_at", self.opens_at), ("pre_queue_at", self.pre_queue_at)] {
            if at.is_some_and(|at| at.unix_timestamp() < 0) {
                return wrong(field, "a time after 1970");
            }
        }
        if self.pre_queue_at > self.opens_at && self.opens_at.is_some() {
            return wrong("pre_queue_at", "before opens_at");
        }
        let length = |text: &Option<String>| text.as_ref().map_or(1, |text| text.chars().count());
        if !(1..=200).contains(&length(&self.draw_beacon)) {
            return wrong("draw_beacon", "1 to 200 characters");
        }
        if !(1..=1_000).contains(&length(&self.draw_beacon_value)) {
            return wrong("draw_beacon_value", "1 to 1,000 characters");
        }
        if self.draw_beacon_value.is_some() && self.draw_beacon.is_none() {
            return wrong("draw_beacon", "named before its value is given");
        }
        self.validate_looks()?;
        let within = [
            ("admission_rate_per_minute", self.admission_rate_per_minute, 1..=600_000),
            ("max_active_sessions", self.max_active_sessions, 1..=10_000_000),
            ("claim_window_seconds", self.claim_window_seconds, 5..=3_600),
            ("session_duration_seconds", self.session_duration_seconds, 1..=86_400),
            ("max_queue_length", self.max_queue_length.unwrap_or(1), 1..=100_000_000),
        ];
        within.into_iter().try_for_each(|(field, value, range)| bounded(field, value, &range))
    }

    /// Checks what only the page shows.
    fn validate_looks(&self) -> Result<(), InvalidSettings> {
        let wrong =
            |field, expected: &str| Err(InvalidSettings { field, expected: expected.to_owned() });
        let message = self.message.as_ref().map_or(1, |text| text.chars().count());
        if !(1..=500).contains(&message) {
            return wrong("message", "1 to 500 characters");
        }
        if self.brand_color.as_ref().is_some_and(|text| Colour::parse(text).is_none()) {
            return wrong("brand_color", "a colour as #rrggbb");
        }
        if self.logo_url.as_ref().is_some_and(|url| secure_origin(url).is_none()) {
            return wrong("logo_url", "an https URL of at most 2,000 characters");
        }
        Ok(())
    }

    /// The fields that the store's scripts read, with their values.
    pub fn for_scripts(&self) -> [(&'static str, String); 10] {
        let flag = |on: bool| if on { "1" } else { "0" }.to_owned();
        let beacon_missing = self.draw_beacon.is_some() && self.draw_beacon_value.is_none();
        [
            ("opens_at_ms", milliseconds(self.opens_at)),
            ("pre_queue_at_ms", milliseconds(self.pre_queue_at)),
            ("method", self.queueing_method.as_str().to_owned()),
            ("beacon_missing", flag(beacon_missing)),
            ("invite_only", flag(self.access == Access::InviteOnly)),
            ("rate_per_minute", self.admission_rate_per_minute.to_string()),
            ("sessions_max", self.max_active_sessions.to_string()),
            ("claim_window_ms", (self.claim_window_seconds * 1_000).to_string()),
            ("session_seconds", self.session_duration_seconds.to_string()),
            ("queue_length_max", self.max_queue_length.unwrap_or(0).to_string()),
        ]
    }

    /// What is mixed into the draw beside the seed.
    pub fn beacon(&self) -> &str {
        self.draw_beacon_value.as_deref().unwrap_or_default()
    }
}

/// Milliseconds since the Unix epoch; 0 = at once.
fn milliseconds(at: Option<OffsetDateTime>) -> String {
    at.map_or(0, |at| at.unix_timestamp_nanos() / 1_000_000).to_string()
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

/// A scheme, a host and perhaps a port, and nothing else.
fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<http::Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
    matches!(scheme, "http" | "https")
        && !authority.as_str().contains('@')
        && text == format!("{scheme}://{authority}")
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
        assert_eq!(settings.queueing_method, QueueingMethod::Random);
    }

    #[test]
    fn a_value_out_of_bounds_is_refused_with_its_name() {
        for (more, named) in [
            (r#","admission_rate_per_minute":0"#, "admission_rate_per_minute must be 1 to 600000"),
            (r#","claim_window_seconds":4"#, "claim_window_seconds"),
            (r#","max_queue_length":0"#, "max_queue_length"),
            (r#","opens_at":"soon""#, "component"),
            (r#","surprise":1"#, "unknown field `surprise`"),
            (r#","message":"""#, "message must be 1 to 500 characters"),
            (r##","brand_color":"#12345""##, "brand_color must be a colour as #rrggbb"),
            (r#","logo_url":"http://shop.example/logo.svg""#, "logo_url must be an https URL"),
            (r#","logo_url":"https://shop.example;img-src *""#, "logo_url must be an https URL"),
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
