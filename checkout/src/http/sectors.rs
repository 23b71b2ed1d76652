//! What an event has to sell: the same bytes for everybody, at most a second old.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderValue, header};
use serde::Serialize;
use shared::ids::EventId;
use shared::problem::{Path, Problem};
use uuid::Uuid;

use crate::app::App;
use crate::catalogue::Listing;

#[derive(Serialize)]
struct Body<'a> {
    sectors: Vec<SectorBody<'a>>,
}

#[derive(Serialize)]
struct SectorBody<'a> {
    sector_id: Uuid,
    name: &'a str,
    price: i64,
    currency: &'a str,
    capacity: i32,
    available: i32,
}

/// `GET /v1/events/{event}/sectors`
pub async fn list(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Problem> {
    let listing = app.catalogue.event(&event).await?.ok_or_else(Problem::not_found)?;
    let max_age = HeaderValue::from_static("public, max-age=1");
    Ok(([(header::CACHE_CONTROL, max_age)], axum::Json(body(&listing)).into_response()))
}

fn body(listing: &Listing) -> Body<'_> {
    let sectors = listing.sectors.iter().map(|sector| SectorBody {
        sector_id: sector.sector_id,
        name: &sector.name,
        price: sector.price,
        currency: &listing.event.currency,
        capacity: sector.capacity,
        available: sector.available,
    });
    Body { sectors: sectors.collect() }
}
