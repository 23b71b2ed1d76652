//! Operators: what waits to be told to the shop, what was given up, and trying that again.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use shared::ids::{EventId, ReservationId};
use shared::problem::{OptionalJson, Path, Problem};
use shared::problems;
use utoipa::ToSchema;

use crate::app::App;
use crate::outbox::message::MessageId;
use crate::sale::receipt::formatted;
use crate::store::dead_letters::{self, DeadLetter};
use crate::store::{outbox, read};

/// Dead letters that are listed.
const LISTED_MAX: i64 = 1_000;
/// Dead letters replayed in one statement.
const REPLAY_BATCH: u32 = 500;

problems!(OutboxProblems: NotFound);
problems!(ReplayProblems: NotFound, UnsupportedMediaType);

/// An event's outbox.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Outbox)]
struct OutboxAnswer {
    /// Messages to be delivered; counts to 10,000.
    pending: i64,
    /// For how long the oldest of them has waited, in seconds.
    oldest_pending_seconds: f64,
    /// Messages that were given up.
    dead: i64,
    /// The newest of them, at most 1000.
    dead_letters: Vec<Letter>,
}

/// A message that was given up.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeadLetter)]
struct Letter {
    /// The message's `webhook-id`.
    id: String,
    /// The reservation that it tells of.
    reservation_id: ReservationId,
    /// The how manieth message of that reservation it is, from 1.
    version: i32,
    /// What it tells, such as `reservation.confirmed`.
    #[serde(rename = "type")]
    kind: String,
    /// When that happened.
    happened_at: String,
    /// Attempts that were made.
    attempts: i32,
    /// When it was given up.
    dead_at: String,
    /// Why the last attempt failed.
    last_error: Option<String>,
}

/// Which message to replay; without it, all that were given up.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Replay)]
pub struct ReplayBody {
    /// The message's `webhook-id`.
    id: Option<String>,
}

/// How much is tried again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Replayed)]
struct ReplayAnswer {
    /// Messages that are tried again.
    replayed: u64,
}

/// 200 with what the shop is not told yet, and what was given up.
#[utoipa::path(
    get,
    path = "",
    tag = "Outbox",
    operation_id = "get_outbox",
    summary = "What the shop is not told yet",
    responses((status = 200, description = "Read from the database now.", body = OutboxAnswer), OutboxProblems),
)]
pub async fn show(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
) -> Result<impl IntoResponse, Problem> {
    let mut connection = app.store.connection().await?;
    read::event(&mut connection, &event).await?.ok_or_else(Problem::not_found)?;
    let backlog = outbox::backlog(&mut connection, Some(&event)).await?;
    let (letters, dead) = dead_letters::dead_letters(&mut connection, &event, LISTED_MAX).await?;
    Ok(axum::Json(OutboxAnswer {
        pending: backlog.pending,
        oldest_pending_seconds: backlog.oldest_seconds,
        dead,
        dead_letters: letters.into_iter().map(Letter::from).collect(),
    }))
}

/// 200 with how much is tried again: one message that was given up, or all.
///
/// It comes after what has been delivered since, which its `version` shows. 404 if the message is not one
/// that was given up.
#[utoipa::path(
    post,
    path = "",
    tag = "Outbox",
    operation_id = "replay_outbox",
    summary = "Try again what was given up",
    request_body = Option<ReplayBody>,
    responses((status = 200, description = "To be sent at once.", body = ReplayAnswer), ReplayProblems),
)]
pub async fn replay(
    State(app): State<Arc<App>>,
    Path(event): Path<EventId>,
    OptionalJson(body): OptionalJson<ReplayBody>,
) -> Result<impl IntoResponse, Problem> {
    let message: Option<MessageId> = match body.id.as_deref().map(str::parse) {
        Some(Ok(message)) => Some(message),
        Some(Err(error)) => return Err(Problem::invalid_request(format!("{error}."))),
        None => None,
    };
    let mut connection = app.store.connection().await?;
    read::event(&mut connection, &event).await?.ok_or_else(Problem::not_found)?;
    let mut replayed = 0;
    loop {
        let batch = dead_letters::replay(&mut connection, &event, message, REPLAY_BATCH).await?;
        replayed += batch;
        if batch < u64::from(REPLAY_BATCH) {
            break;
        }
    }
    if message.is_some() && replayed == 0 {
        return Err(Problem::not_found());
    }
    tracing::info!(event = %event, replayed, "dead letters to be tried again");
    Ok(axum::Json(ReplayAnswer { replayed }))
}

impl From<DeadLetter> for Letter {
    fn from(letter: DeadLetter) -> Self {
        let id = MessageId { reservation: letter.reservation_id, version: letter.version };
        Self {
            id: id.to_string(),
            reservation_id: ReservationId(letter.reservation_id),
            version: letter.version,
            kind: format!("reservation.{}", letter.kind),
            happened_at: formatted(letter.happened_at),
            attempts: letter.attempts,
            dead_at: formatted(letter.dead_at),
            last_error: letter.last_error,
        }
    }
}
