//! Whose session in the waiting room is over.

use shared::ids::EventId;
use shared::signals::Session;
use sqlx::PgConnection;
use uuid::Uuid;

use super::StoreError;

/// The admissions that are over with these reservations of an event. Reservations that are held are
/// passed over, and so are admissions with which something else is held.
pub async fn over(
    connection: &mut PgConnection,
    event: &EventId,
    reservations: &[Uuid],
) -> Result<Vec<Session>, StoreError> {
    let over: Vec<(Uuid, i64)> = sqlx::query_as(include_str!("sql/sessions_over.sql"))
        .bind(event.as_str())
        .bind(reservations)
        .fetch_all(connection)
        .await?;
    let sessions = over.into_iter();
    Ok(sessions.map(|(jti, number)| Session { jti, number: number.cast_unsigned() }).collect())
}
