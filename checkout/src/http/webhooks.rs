//! `POST /v1/webhooks/payments/{provider}`

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use http::{HeaderMap, StatusCode};
use shared::problem::{Path, Problem};
use shared::problems;

use crate::app::App;
use crate::clock;
use crate::payment::settle::count_webhook;

/// Largest webhook, in bytes: Stripe's have a whole object in them.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

problems!(WebhookProblems: NotFound, QueueFull);

/// 204 when it was taken, also when it was taken before or is about nothing of ours.
///
/// For payment providers, signed as each of them does (`sandbox`: `Sandbox-Signature`, `stripe`:
/// `Stripe-Signature`). Whatever is not 204 is to be sent again.
#[utoipa::path(
    post,
    path = "",
    tag = "Payments",
    operation_id = "payment_webhook",
    summary = "What a provider tells",
    security(()),
    params(("provider" = String, Path, description = "`sandbox` or `stripe`, as configured.")),
    request_body(content = Object, content_type = "application/json"),
    responses((status = 204, description = "Taken."), WebhookProblems),
)]
pub async fn receive(
    State(app): State<Arc<App>>,
    Path(provider): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Problem> {
    let provider = app.payments.provider(&provider).ok_or_else(Problem::not_found)?.clone();
    let notice = provider.webhook(&headers, &body?, clock::unix_seconds()).map_err(|forged| {
        tracing::warn!(provider = provider.name(), reason = %forged, "a webhook was not taken");
        count_webhook(provider.name(), "forged");
        Problem::invalid_request("This webhook is not signed as it should be, or too old.")
    })?;
    let told = app.tasks.run({
        let app = app.clone();
        move |owned| async move { app.payments.told(&owned, provider.as_ref(), notice).await }
    });
    told.await??;
    Ok(StatusCode::NO_CONTENT)
}
