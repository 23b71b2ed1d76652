//! The body of a reservation's request.

use serde::Deserialize;
use shared::ids::SectorId;
use shared::problem::Problem;
use utoipa::ToSchema;

use crate::sale::basket::Basket;

/// `{"sector_id", "quantity"}` or `{"items": [{"sector_id", "quantity"}, …]}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Reserve)]
pub struct ReserveBody {
    /// One sector. Left out with `items`.
    sector_id: Option<SectorId>,
    /// Places in it, 1 to the event's `max_quantity_per_request`.
    // Wider than any quantity, so that what is out of bounds is told from what is no number.
    #[schema(minimum = 1, maximum = 10_000, example = 2)]
    quantity: Option<i64>,
    /// Several sectors: 1 to 20 lines.
    #[schema(min_items = 1, max_items = 20)]
    items: Option<Vec<Line>>,
}

/// Places in one sector.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ReserveItem)]
struct Line {
    sector_id: SectorId,
    /// All lines together, at most the event's `max_quantity_per_request`.
    #[schema(minimum = 1, maximum = 10_000, example = 2)]
    quantity: i64,
}

impl ReserveBody {
    /// What is asked for.
    pub fn basket(self) -> Result<Basket, Problem> {
        let lines = match (self.sector_id, self.quantity, self.items) {
            (Some(sector_id), Some(quantity), None) => vec![Line { sector_id, quantity }],
            (None, None, Some(items)) => items,
            _ => {
                return Err(Problem::invalid_request(
                    "Send either sector_id and quantity, or items with these two each.",
                ));
            }
        };
        let lines: Vec<_> = lines.iter().map(|line| (line.sector_id, line.quantity)).collect();
        Ok(Basket::new(&lines)?)
    }
}

#[cfg(test)]
mod tests {
    use shared::problem::Code;

    use super::*;

    const SECTOR: &str = "0190a6a0-0000-7000-8000-000000000001";

    fn refused(json: &str) -> Option<Code> {
        let body: ReserveBody = serde_json::from_str(&json.replace("$S", SECTOR)).ok()?;
        body.basket().err().map(|problem| problem.code())
    }

    #[test]
    fn both_forms_mean_the_same_and_exactly_one_is_sent() {
        let basket = |json: &str| {
            let body: ReserveBody =
                serde_json::from_str(&json.replace("$S", SECTOR)).expect("it is one of the forms");
            body.basket().expect("it is one of the forms")
        };
        let short = basket(r#"{"sector_id":"$S","quantity":3}"#);
        let long = r#"{"items":[{"sector_id":"$S","quantity":1},{"sector_id":"$S","quantity":2}]}"#;
        assert_eq!(short, basket(long));
        for neither in [
            "{}",
            r#"{"sector_id":"$S"}"#,
            r#"{"quantity":1}"#,
            r#"{"sector_id":"$S","quantity":1,"items":[]}"#,
            r#"{"items":[]}"#,
        ] {
            assert_eq!(refused(neither), Some(Code::InvalidRequest), "{neither}");
        }
    }

    #[test]
    fn a_quantity_that_is_no_integer_is_malformed_and_one_out_of_bounds_is_invalid() {
        for quantity in ["0", "-1", "2147483648", "10001"] {
            let json = format!(r#"{{"sector_id":"$S","quantity":{quantity}}}"#);
            assert_eq!(refused(&json), Some(Code::InvalidQuantity), "{quantity}");
        }
        for quantity in ["1.5", "\"1\"", "true", "[]", "99999999999999999999"] {
            let json = format!(r#"{{"sector_id":"{SECTOR}","quantity":{quantity}}}"#);
            assert!(serde_json::from_str::<ReserveBody>(&json).is_err(), "{quantity}");
        }
    }
}
