//! What an event has to sell: the same bytes for everybody, at most a second old.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use http::{HeaderValue, header};
use serde::Serialize;
use shared::ids::EventId;
use shared::problem::{Path, Problem};
use shared::problems;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::app::App;
use crate::catalogue::Listing;

problems!(SectorsProblems: NotFound);

/// What an event has to sell.
#[derive(Serialize, ToSchema)]
#[schema(as = Sectors)]
struct Body<'a> {
    /// Ascending by id.
    sectors: Vec<SectorBody<'a>>,
}

/// A part of an event with a stock of its own.
#[derive(Serialize, ToSchema)]
#[schema(as = Sector)]
struct SectorBody<'a> {
    /// Its name for programs.
    sector_id: Uuid,
    /// Its name for people.
    #[schema(example = "Standing")]
    name: &'a str,
    /// Of one place, in the currency's minor unit.
    #[schema(example = 4_500)]
    price: i64,
    /// ISO 4217.
    #[schema(example = "EUR")]
    currency: &'a str,
    /// All places.
    #[schema(example = 10_000)]
    capacity: i32,
    /// Places left, at most a second ago.
    #[schema(example = 1_204)]
    available: i32,
}

/// 200, the same for everybody, cacheable for a second.
#[utoipa::path(
    get,
    path = "",
    tag = "Events",
    operation_id = "sectors",
    summary = "What is on sale",
    responses(
        (
            status = 200, description = "All sectors.", body = Body<'_>,
            headers(("Cache-Control" = String, description = "`public, max-age=1`")),
        ),
        SectorsProblems,
    ),
)]
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
