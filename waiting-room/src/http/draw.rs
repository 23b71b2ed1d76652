//! `GET /v1/events/{event}/draw`: what lets anybody check the draw.

use axum::Json;
use axum::response::IntoResponse;
use http::{HeaderValue, header};
use serde::Serialize;
use shared::ids::EventId;
use shared::problem::Problem;
use shared::problems;
use utoipa::ToSchema;

use super::visitor::InRoom;
use crate::error::Error;
use crate::queue::{ALGORITHM, QueueingMethod, Seed};

problems!(DrawProblems: NotFound);

/// What lets anybody check a draw.
#[derive(Serialize, ToSchema)]
#[schema(as = Draw)]
struct DrawBody<'a> {
    event: &'a EventId,
    /// How ranks follow from the seed; `waiting-room verify-draw` does it offline.
    #[schema(example = "stanchion-draw-v1")]
    algorithm: &'static str,
    /// SHA-256 of the seed, in hex: published before the opening.
    commitment: String,
    /// The public value that is mixed in, as it was named in advance.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    draw_beacon: Option<&'a str>,
    /// That value, once it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    draw_beacon_value: Option<&'a str>,
    /// The seed, in hex, after the opening.
    #[schema(required = true)]
    seed: Option<String>,
    /// How many were drawn, after the opening.
    #[schema(required = true)]
    n: Option<u64>,
}

/// 200: the commitment; after the opening also the seed and n. 404 where nobody is drawn.
///
/// `seed` and `n` are `null` until the opening. `not_found` also where nobody is drawn.
#[utoipa::path(
    get,
    path = "",
    tag = "Room",
    summary = "The draw, and how to check it",
    responses(
        (status = 200, description = "The commitment, and more after the opening.", body = DrawBody),
        DrawProblems,
    ),
)]
pub(crate) async fn draw(InRoom { event, room }: InRoom) -> Result<impl IntoResponse, Error> {
    let (settings, now) = (&room.settings, &room.snapshot);
    if settings.queueing_method != QueueingMethod::Random {
        return Err(Problem::not_found().into());
    }
    let seed = Seed::from_hex(&now.seed).ok_or_else(Problem::internal)?;
    let opened = now.opened_at_ms > 0;
    let body = DrawBody {
        event: &event,
        algorithm: ALGORITHM,
        commitment: seed.commitment(),
        draw_beacon: settings.draw_beacon.as_deref(),
        draw_beacon_value: settings.draw_beacon_value.as_deref(),
        seed: opened.then(|| seed.to_hex()),
        n: opened.then_some(now.draw_n),
    };
    let cache = (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=1"));
    Ok(([cache], Json(body).into_response()))
}
