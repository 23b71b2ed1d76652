//! The bodies of an operator's changes, and their bounds.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::Deserialize;
use shared::ids::{EventId, SectorId};
use shared::problem::Problem;
use utoipa::ToSchema;

use crate::sale::basket::QUANTITY_MAX;
use crate::store::admin::{EventChange, SectorChange};

/// Characters of a name.
const NAME_LENGTH: RangeInclusive<usize> = 1..=200;
/// Places of one person, or of one request.
const QUANTITY: RangeInclusive<i32> = 1..=QUANTITY_MAX;
/// Up to two days, of which an extension is one.
const MAX_HOLD_SECONDS: RangeInclusive<i32> = 1..=172_800;
/// Up to a day.
const HOLD_TTL_SECONDS: RangeInclusive<i32> = 1..=86_400;
/// Places of a sector.
const CAPACITY: RangeInclusive<i32> = 0..=10_000_000;
/// Of one place. With the most places in one request, a total stays an exact number in JavaScript.
const PRICE: RangeInclusive<i64> = 0..=500_000_000_000;

/// An event as an operator describes it. What is left out of a `PATCH` stays as it is; what is left
/// out of a `PUT` gets its default.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = EventChange)]
pub struct EventBody {
    /// For people, 1 to 200 characters. Default the event's slug.
    #[schema(min_length = 1, max_length = 200, example = "A concert")]
    name: Option<String>,
    /// Places that one person may hold and own together, 1 to 10,000. Default 4.
    #[schema(minimum = 1, maximum = 10_000, example = 4)]
    max_per_user: Option<i32>,
    /// Places that one request may ask for, 1 to 10,000. Default 4.
    #[schema(minimum = 1, maximum = 10_000, example = 4)]
    max_quantity_per_request: Option<i32>,
    /// How long a hold is kept, 1 to 86,400. Default 600.
    #[schema(minimum = 1, maximum = 86_400, example = 600)]
    hold_ttl_seconds: Option<i32>,
    /// How long a hold may last in all, when it is extended, 1 to 172,800. Default twice `hold_ttl_seconds`.
    #[schema(minimum = 1, maximum = 172_800, example = 1_200)]
    max_hold_seconds: Option<i32>,
    /// ISO 4217. Default `EUR`.
    #[schema(pattern = "^[A-Z]{3}$", example = "EUR")]
    currency: Option<String>,
    /// Sectors to make or change; those that are not listed stay. Default none.
    #[serde(default)]
    sectors: Vec<SectorBody>,
}

/// A sector, found by `sector_id`, or else by `name`. A new one needs a name and a capacity; its
/// price is 0 unless it is given. What is left out of a sector that is there stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = SectorChange)]
struct SectorBody {
    /// Its name for programs; made when it is left out of a new sector.
    sector_id: Option<SectorId>,
    /// Its name for people, 1 to 200 characters.
    #[schema(min_length = 1, max_length = 200, example = "Standing")]
    name: Option<String>,
    /// All places, 0 to 10,000,000. Not fewer than are held and sold.
    #[schema(minimum = 0, maximum = 10_000_000, example = 10_000)]
    capacity: Option<i32>,
    /// Of one place, in the currency's minor unit, 0 to 500,000,000,000.
    #[schema(minimum = 0, maximum = 500_000_000_000u64, example = 4_500)]
    price: Option<i64>,
}

impl EventBody {
    /// The whole of an event, with defaults for what is left out.
    pub fn put(self, event: EventId) -> Result<EventChange, Problem> {
        let body = Self {
            name: self.name.or_else(|| Some(event.to_string())),
            max_per_user: self.max_per_user.or(Some(4)),
            max_quantity_per_request: self.max_quantity_per_request.or(Some(4)),
            hold_ttl_seconds: self.hold_ttl_seconds.or(Some(600)),
            max_hold_seconds: self.max_hold_seconds,
            currency: self.currency.or_else(|| Some("EUR".to_owned())),
            sectors: self.sectors,
        };
        body.change(event, true)
    }

    /// Only what is given.
    pub fn patch(self, event: EventId) -> Result<EventChange, Problem> {
        self.change(event, false)
    }

    fn change(self, event: EventId, create: bool) -> Result<EventChange, Problem> {
        checked_name(self.name.as_deref())?;
        checked("max_per_user", self.max_per_user, QUANTITY)?;
        checked("max_quantity_per_request", self.max_quantity_per_request, QUANTITY)?;
        checked("hold_ttl_seconds", self.hold_ttl_seconds, HOLD_TTL_SECONDS)?;
        checked("max_hold_seconds", self.max_hold_seconds, MAX_HOLD_SECONDS)?;
        checked_currency(self.currency.as_deref())?;
        let sectors = self.sectors.into_iter().map(SectorBody::change);
        Ok(EventChange {
            event,
            create,
            name: self.name,
            max_per_user: self.max_per_user,
            max_quantity_per_request: self.max_quantity_per_request,
            hold_ttl_seconds: self.hold_ttl_seconds,
            max_hold_seconds: self.max_hold_seconds,
            currency: self.currency,
            sectors: sectors.collect::<Result<_, _>>()?,
        })
    }
}

impl SectorBody {
    fn change(self) -> Result<SectorChange, Problem> {
        checked_name(self.name.as_deref())?;
        checked("capacity", self.capacity, CAPACITY)?;
        checked("price", self.price, PRICE)?;
        let Self { sector_id, name, capacity, price } = self;
        Ok(SectorChange { sector_id, name, capacity, price })
    }
}

fn checked<T: PartialOrd + Display>(
    field: &'static str,
    value: Option<T>,
    bounds: RangeInclusive<T>,
) -> Result<(), Problem> {
    if value.is_none_or(|value| bounds.contains(&value)) {
        return Ok(());
    }
    let (least, most) = bounds.into_inner();
    Err(Problem::invalid_request(format!("{field} must be from {least} to {most}")))
}

fn checked_name(name: Option<&str>) -> Result<(), Problem> {
    let well_formed = |name: &str| {
        NAME_LENGTH.contains(&name.chars().count()) && !name.chars().any(char::is_control)
    };
    if name.is_none_or(well_formed) {
        return Ok(());
    }
    Err(Problem::invalid_request("a name is 1 to 200 characters, none of them a control character"))
}

fn checked_currency(currency: Option<&str>) -> Result<(), Problem> {
    let well_formed =
        |code: &str| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
    if currency.is_none_or(well_formed) {
        return Ok(());
    }
    Err(Problem::invalid_request("currency must be an ISO 4217 code such as EUR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(json: &str) -> Option<EventChange> {
        let body: EventBody = serde_json::from_str(json).ok()?;
        body.put("demo".parse().expect("a slug")).ok()
    }

    #[test]
    fn what_is_left_out_of_a_put_has_a_default() {
        let event = put("{}").expect("everything has a default");
        assert_eq!(event.name.as_deref(), Some("demo"));
        assert_eq!(event.max_per_user, Some(4));
        assert_eq!(event.max_quantity_per_request, Some(4));
        assert_eq!(event.hold_ttl_seconds, Some(600));
        assert_eq!(event.currency.as_deref(), Some("EUR"));
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(201));
        for bad in [
            r#"{"name":""}"#,
            r#"{"max_per_user":0}"#,
            r#"{"max_quantity_per_request":10001}"#,
            r#"{"hold_ttl_seconds":86401}"#,
            r#"{"max_hold_seconds":0}"#,
            r#"{"currency":"eur"}"#,
            r#"{"currency":"EURO"}"#,
            r#"{"sectors":[{"name":"A","capacity":-1}]}"#,
            r#"{"sectors":[{"name":"A","capacity":1,"price":-1}]}"#,
            r#"{"sectors":[{"name":"A","capacity":1,"colour":"red"}]}"#,
            r#"{"unknown":1}"#,
            &long,
        ] {
            assert!(put(bad).is_none(), "{bad}");
        }
    }
}
