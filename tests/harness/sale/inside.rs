//! A checkout without listeners, in the test's own hands: to drop a request's future where one wants, and to
//! fill what no client could fill in time.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, header};
use axum::response::Response;
use checkout::app::{self, App};
use checkout::clock;
use checkout::sale::basket::Basket;
use checkout::sale::fingerprint::Fingerprint;
use checkout::sale::key::IdempotencyKey;
use checkout::sale::line::Ticket;
use checkout::sale::order::Order;
use serde_json::Value;
use shared::ids::SectorId;
use shared::problem::Problem;
use shared::signals::Session;
use tower::ServiceExt;
use uuid::Uuid;

use super::{claims, new_key, settings, sign};

/// The service without what it does by itself: no sweep, no purge.
pub struct Inside {
    /// What its requests can reach.
    pub app: Arc<App>,
    public: Router,
}

impl Inside {
    /// One on these stores, in which somebody else has made the tables.
    ///
    /// # Panics
    /// When it cannot be made.
    pub async fn start(database_url: &str, redis_url: &str, flags: &[&str]) -> Self {
        let settings = settings(database_url, redis_url, flags);
        let app = Arc::new(App::new(&settings).await.expect("the settings are good"));
        app.admission_keys.refresh().await.expect("the keys are there");
        let public = app::public(&app, &settings.common);
        Self { app, public }
    }

    /// A request, without a body or with one, and with a key of its own.
    ///
    /// # Panics
    /// When it is none.
    pub fn request(
        &self,
        method: Method,
        path: &str,
        bearer: &str,
        body: Option<&Value>,
    ) -> Request {
        Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {bearer}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("idempotency-key", new_key())
            .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
            .expect("a request")
    }

    /// Its answer.
    pub async fn answer(&self, request: Request) -> Response {
        self.public.clone().oneshot(request).await.expect("it never fails")
    }

    /// Drops a request when it waits for the `pauses`th time. Whether it was answered before.
    pub async fn drop_at(&self, pauses: u32, request: Request) -> bool {
        let mut answer = pin!(self.answer(request));
        let mut left = pauses;
        std::future::poll_fn(|context| {
            if answer.as_mut().poll(context).is_ready() {
                return Poll::Ready(true);
            }
            left -= 1;
            if left == 0 { Poll::Ready(false) } else { Poll::Pending }
        })
        .await
    }

    /// Gets an order for one place in line, past the request's path. `available`: places left, as it is
    /// supposed.
    ///
    /// # Errors
    /// What its buyer would be told.
    ///
    /// # Panics
    /// When these are no names.
    pub fn place(
        &self,
        event: &str,
        sub: &str,
        sector: &str,
        available: i32,
    ) -> Result<Ticket, Problem> {
        let claims = claims(event, sub);
        let sector = SectorId(sector.parse().expect("an id"));
        let basket = Basket::new(&[(sector, 1)]).expect("a basket");
        let order = Order {
            id: self.app.ids.issue(&claims.event, &claims.sub, clock::unix_ms()),
            event: claims.event,
            sub: claims.sub,
            admission: Session { jti: Uuid::new_v4(), number: 1 },
            key: IdempotencyKey::parse(b"key").expect("a key"),
            fingerprint: Fingerprint::reserve(&basket),
            basket,
        };
        self.app.writers.place(order, available, &self.app.tasks)
    }

    /// The admission of somebody to an event.
    #[must_use]
    pub fn admission(&self, event: &str, sub: &str) -> String {
        sign(&claims(event, sub))
    }
}
