//! What wraps every route of both services, outermost first:
//!
//! 1. request id: taken over when it is short and plain, else made; on every answer, errors too
//! 2. trace: one span a request, named by method and route, with that id
//! 3. CORS, where an operator has listed origins: before anything that could refuse, so that a browser
//!    may read the refusal
//! 4. panic: a bug in one request is a 500 for that request and nothing else
//! 5. time limit: 503 with Retry-After; and counts and times by route, that 503 included
//! 6. unread bodies: read to their end, within bounds, so that the answer arrives
//! 7. body limit: 413

use std::any::Any;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, Method, header};
use tower::ServiceBuilder;
use tower::util::MapRequestLayer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::request_id::{
    MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer,
};
use tower_http::trace::{DefaultOnFailure, DefaultOnResponse, TraceLayer};
use tracing::Level;
use uuid::Uuid;

use crate::measure::UNMATCHED;
use crate::problem::{Code, Problem};
use crate::{drain, measure};

/// Largest request body, in bytes. Ours are a few hundred.
pub const BODY_BYTES_MAX: usize = 16 * 1024;
const REQUEST_ID_BYTES_MAX: usize = 64;
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Answers for unknown paths and methods; before any layer, so that the layers wrap them too.
pub fn with_fallbacks(routes: Router) -> Router {
    with_method_fallback(routes.fallback(|| async { Problem::not_found() }))
}

/// The answer for unknown methods alone: for routes that stand beside others, which answer for unknown paths.
pub fn with_method_fallback(routes: Router) -> Router {
    routes.method_not_allowed_fallback(|| async {
        Problem::new(Code::MethodNotAllowed, "This path does not take that method.")
    })
}

/// Wraps a whole router, its fallbacks included.
pub fn wrap(routes: Router, cors_origins: &[HeaderValue], timeout: Duration) -> Router {
    let stack = ServiceBuilder::new()
        .layer(MapRequestLayer::new(drop_unusable_request_id))
        .layer(SetRequestIdLayer::new(REQUEST_ID.clone(), NewRequestId))
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(request_span)
                .on_response(DefaultOnResponse::new().level(Level::DEBUG))
                // What failed has been logged where it did, with its reason.
                .on_failure(DefaultOnFailure::new().level(Level::DEBUG)),
        )
        .layer(PropagateRequestIdLayer::new(REQUEST_ID.clone()))
        .option_layer((!cors_origins.is_empty()).then(|| cors(cors_origins)))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(timeout, within_time))
        .layer(MapRequestLayer::new(drain::unread_body))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX));
    routes.layer(stack)
}

#[derive(Clone, Copy)]
struct NewRequestId;

impl MakeRequestId for NewRequestId {
    fn make_request_id<B>(&mut self, _: &http::Request<B>) -> Option<RequestId> {
        HeaderValue::from_str(&Uuid::now_v7().to_string()).ok().map(RequestId::new)
    }
}

fn drop_unusable_request_id(mut request: Request) -> Request {
    let usable = |value: &HeaderValue| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        (1..=REQUEST_ID_BYTES_MAX).contains(&value.len()) && value.as_bytes().iter().all(plain)
    };
    if request.headers().get(&REQUEST_ID).is_some_and(|value| !usable(value)) {
        request.headers_mut().remove(&REQUEST_ID);
    }
    request
}

fn request_span(request: &Request) -> tracing::Span {
    let id = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    // The route and never the path or the query: those may hold what does not belong in a log.
    tracing::info_span!(
        "request",
        method = %request.method(),
        route = route(request),
        request_id = id.unwrap_or_default(),
    )
}

fn cors(origins: &[HeaderValue]) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins.iter().cloned()))
        .allow_credentials(true)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("idempotency-key"),
        ])
        // The date, so that a page can count down by our clock and not by the phone's.
        .expose_headers([
            header::DATE,
            header::LOCATION,
            header::RETRY_AFTER,
            REQUEST_ID.clone(),
            HeaderName::from_static("idempotent-replayed"),
        ])
        .max_age(Duration::from_secs(600))
}

fn panicked(reason: Box<dyn Any + Send + 'static>) -> Response {
    let reason = reason
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| reason.downcast_ref::<&str>().copied())
        .unwrap_or("not a text");
    tracing::error!(reason, "a request panicked");
    metrics::counter!("panics_total").increment(1);
    Problem::internal().into_response()
}

async fn within_time(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => too_late(),
    };
    measure::note(&method, route.as_ref(), response.status(), started.elapsed());
    response
}

fn too_late() -> Response {
    let detail =
        "There was no answer in time. Send the same request again: what it did is not lost.";
    Problem::new(Code::Unavailable, detail).retry_after_seconds(1).into_response()
}

fn route<B>(request: &http::Request<B>) -> &str {
    request.extensions().get::<MatchedPath>().map_or(UNMATCHED, MatchedPath::as_str)
}
