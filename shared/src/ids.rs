//! Identifiers, as newtypes that cannot hold a malformed value.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

/// What was wrong with an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// Not `[a-z0-9][a-z0-9-]{0,62}`.
    #[error("an event is 1 to 63 characters of a-z, 0-9 and '-', and does not start with '-'")]
    Event,
    /// Empty, longer than 255 bytes, or with control characters.
    #[error("a subject is 1 to 255 bytes without control characters")]
    Subject,
}

/// An event's slug: `[a-z0-9][a-z0-9-]{0,62}`. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(
    description = "An event's name in addresses: 1 to 63 of a-z, 0-9 and `-`, not starting with `-`.",
    value_type = String,
    pattern = "^[a-z0-9][a-z0-9-]{0,62}$",
    example = "demo"
)]
pub struct EventId(Arc<str>);

/// A person, as the identity provider or the waiting room names them: the `sub` of a token.
/// 1 to 255 bytes without control characters. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Subject(Arc<str>);

impl FromStr for EventId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let well_formed =
            (1..=63).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(allowed);
        if well_formed { Ok(Self(text.into())) } else { Err(InvalidId::Event) }
    }
}

impl FromStr for Subject {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let well_formed = (1..=255).contains(&text.len()) && !text.chars().any(char::is_control);
        if well_formed { Ok(Self(text.into())) } else { Err(InvalidId::Subject) }
    }
}

macro_rules! text_id {
    ($name:ident) => {
        impl $name {
            /// The identifier as it stands on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_id!(EventId);
text_id!(Subject);

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new identifier: a UUID of version 7, so that rows are written in order of time.
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    };
}

uuid_id!(
    /// A part of an event with a stock of its own.
    SectorId
);
uuid_id!(
    /// One person's hold on places, and later the purchase it becomes.
    ReservationId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_a_short_lower_case_slug() {
        for good in ["a", "0", "rock-am-ring-2027", &"x".repeat(63)] {
            assert_eq!(good.parse::<EventId>().map(String::from), Ok(good.to_owned()));
        }
        for bad in ["", "-a", "A", "a_b", "a b", "ä", "a/b", "a{b}", &"x".repeat(64)] {
            assert_eq!(bad.parse::<EventId>(), Err(InvalidId::Event), "{bad:?}");
        }
    }

    #[test]
    fn a_subject_has_no_control_characters_and_a_bounded_length() {
        assert!("user:42 ünï".parse::<Subject>().is_ok());
        for bad in ["", "a\nb", "a\0", &"x".repeat(256)] {
            assert_eq!(bad.parse::<Subject>(), Err(InvalidId::Subject));
        }
    }
}
