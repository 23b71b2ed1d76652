//! Access codes.

use serde::Deserialize;
use shared::ids::EventId;
use shared::redis::RedisError;
use utoipa::ToSchema;

use super::{OPERATOR, Store, script};

script!(CODES, "codes.lua");

/// Where an access code leads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Into the queue.
    #[default]
    Normal,
    /// Into the lane that is called first, inside the rate.
    Priority,
}

/// An access code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessCode {
    /// What people type, 1 to 64 visible ASCII characters.
    #[schema(example = "EARLY-BIRD", min_length = 1, max_length = 64)]
    pub code: String,
    /// How many people may join with it; 0 takes the code away. Default 1.
    #[serde(default = "one")]
    pub uses: u32,
    /// Where it leads.
    #[serde(default)]
    pub lane: Lane,
}

fn one() -> u32 {
    1
}

impl AccessCode {
    /// Whether the code's text is one.
    pub fn is_well_formed(code: &str) -> bool {
        (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_graphic())
    }
}

impl Store {
    /// Adds or takes away access codes; says how many there are. `None` when there is no such room.
    pub async fn codes(
        &self,
        event: &EventId,
        codes: &[AccessCode],
    ) -> Result<Option<u64>, RedisError> {
        #[derive(Deserialize)]
        struct Answer {
            codes: i64,
        }
        let mut arguments = vec![OPERATOR.to_owned()];
        for code in codes {
            let lane = match code.lane {
                Lane::Normal => "normal",
                Lane::Priority => "priority",
            };
            arguments.extend([code.code.clone(), code.uses.to_string(), lane.to_owned()]);
        }
        Ok(u64::try_from(self.run::<Answer>(&CODES, event, arguments).await?.codes).ok())
    }
}
