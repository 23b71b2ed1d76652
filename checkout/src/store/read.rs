//! Reading: single statements, which a request's future may own.

use serde::Serialize;
use shared::ids::{EventId, ReservationId, SectorId, Subject};
use sqlx::PgConnection;
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::StoreError;
use crate::sale::hold::State;
use crate::sale::receipt::{Item, Reservation};
use crate::sale::sold_out::PEOPLE_MAX;

/// An event's settings.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
pub struct Event {
    /// Its slug.
    #[serde(rename = "event")]
    #[sqlx(rename = "event_id", try_from = "String")]
    pub id: EventId,
    /// Its name, for people.
    pub name: String,
    /// Places that one person may hold and own together.
    pub max_per_user: i32,
    /// Places that one request may ask for.
    pub max_quantity_per_request: i32,
    /// How long a hold is kept, in seconds.
    pub hold_ttl_seconds: i32,
    /// How long a hold may last in all when it is extended, in seconds.
    pub max_hold_seconds: i32,
    /// ISO 4217.
    pub currency: String,
}

/// A sector and its stock.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
pub struct Sector {
    /// Its name for programs.
    pub sector_id: Uuid,
    /// Its name for people.
    pub name: String,
    /// Of one place, in the currency's minor unit.
    pub price: i64,
    /// All places.
    pub capacity: i32,
    /// Places left.
    pub available: i32,
    /// Places kept for somebody.
    pub held: i32,
    /// Places sold.
    pub confirmed: i32,
}

/// Places of an event, over all of its sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Places left.
    pub left: u64,
    /// Places kept for somebody.
    pub held: u64,
}

/// A look at a sector.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Look {
    /// The moment of it.
    pub at: OffsetDateTime,
    /// Places left.
    pub available: i32,
    /// Whoever has an answer on record at the event, perhaps not all.
    pub people: Vec<String>,
}

/// One item of a reservation, with the reservation it is of.
#[derive(sqlx::FromRow)]
pub(super) struct ReservationRow {
    #[sqlx(try_from = "String")]
    event_id: EventId,
    reservation_id: Uuid,
    #[sqlx(try_from = "String")]
    sub: Subject,
    #[sqlx(try_from = "String")]
    state: State,
    total: i64,
    currency: String,
    created_at: OffsetDateTime,
    expires_at: OffsetDateTime,
    sector_id: Uuid,
    quantity: i32,
    price: i64,
}

/// The slugs of all events.
pub async fn event_ids(connection: &mut PgConnection) -> Result<Vec<EventId>, StoreError> {
    let ids: Vec<String> =
        sqlx::query_scalar(include_str!("sql/event_ids.sql")).fetch_all(connection).await?;
    Ok(ids.into_iter().filter_map(|id| id.parse().ok()).collect())
}

/// An event, if there is one of that name.
pub async fn event(
    connection: &mut PgConnection,
    id: &EventId,
) -> Result<Option<Event>, StoreError> {
    let event = sqlx::query_as(include_str!("sql/event.sql")).bind(id.as_str());
    Ok(event.fetch_optional(connection).await?)
}

/// The newest events, at most so many.
pub async fn events(connection: &mut PgConnection, limit: i64) -> Result<Vec<Event>, StoreError> {
    Ok(sqlx::query_as(include_str!("sql/events.sql")).bind(limit).fetch_all(connection).await?)
}

/// The sectors of an event, ascending.
pub async fn sectors(
    connection: &mut PgConnection,
    event: &EventId,
) -> Result<Vec<Sector>, StoreError> {
    let sectors = sqlx::query_as(include_str!("sql/sectors.sql")).bind(event.as_str());
    Ok(sectors.fetch_all(connection).await?)
}

/// What is left and kept of these events, or of all; those without a sector are left out.
pub async fn places(
    connection: &mut PgConnection,
    events: Option<&[EventId]>,
) -> Result<Vec<(EventId, Places)>, StoreError> {
    let names: Option<Vec<&str>> =
        events.map(|events| events.iter().map(EventId::as_str).collect());
    let sums: Vec<(String, i64, i64)> =
        sqlx::query_as(include_str!("sql/places.sql")).bind(names).fetch_all(connection).await?;
    let places = sums.into_iter().filter_map(|(event, left, held)| {
        Some((
            event.parse().ok()?,
            Places { left: left.try_into().ok()?, held: held.try_into().ok()? },
        ))
    });
    Ok(places.collect())
}

/// Whether a sector has a place, and who has an answer on record; with `since`, only on records of
/// that time and so many seconds before it.
pub async fn look(
    connection: &mut PgConnection,
    event: &EventId,
    sector: SectorId,
    since: (Option<OffsetDateTime>, f64),
) -> Result<Look, StoreError> {
    let limit = i64::try_from(PEOPLE_MAX).unwrap_or(i64::MAX);
    Ok(sqlx::query_as(include_str!("sql/look.sql"))
        .bind(event.as_str())
        .bind(sector.0)
        .bind(since.1)
        .bind(since.0)
        .bind(limit)
        .fetch_one(connection)
        .await?)
}

/// The event of a reservation, if there is one of that name.
pub async fn event_of(
    connection: &mut PgConnection,
    id: ReservationId,
) -> Result<Option<EventId>, StoreError> {
    let event: Option<String> = sqlx::query_scalar(include_str!("sql/event_of_reservation.sql"))
        .bind(id.0)
        .fetch_optional(connection)
        .await?;
    Ok(event.and_then(|event| event.parse().ok()))
}

/// A reservation, if it is there and `owner`'s; of anybody without an `owner`.
pub async fn reservation(
    connection: &mut PgConnection,
    event: &EventId,
    id: ReservationId,
    owner: Option<&Subject>,
) -> Result<Option<Reservation>, StoreError> {
    let rows = sqlx::query_as(include_str!("sql/reservation.sql"))
        .bind(event.as_str())
        .bind(id.0)
        .bind(owner.map(Subject::as_str))
        .fetch_all(connection)
        .await?;
    Ok(collected(rows))
}

/// The reservations whose items these are, in the rows' order, each one's items together.
pub(super) fn collected_each(rows: Vec<ReservationRow>) -> Vec<Reservation> {
    let mut rows = rows.into_iter().peekable();
    let mut reservations = Vec::new();
    while let Some(id) = rows.peek().map(|row| row.reservation_id) {
        let items = std::iter::from_fn(|| rows.next_if(|row| row.reservation_id == id)).collect();
        reservations.extend(collected(items));
    }
    reservations
}

/// The reservation whose items these are; none if there is no item.
pub(super) fn collected(rows: Vec<ReservationRow>) -> Option<Reservation> {
    let items = rows
        .iter()
        .map(|row| Item {
            sector_id: SectorId(row.sector_id),
            quantity: row.quantity,
            price: row.price,
        })
        .collect();
    let row = rows.into_iter().next()?;
    Some(Reservation {
        id: ReservationId(row.reservation_id),
        event: row.event_id,
        sub: row.sub,
        state: row.state,
        items,
        total: row.total,
        currency: row.currency,
        expires_at: row.expires_at,
        created_at: row.created_at,
    })
}
