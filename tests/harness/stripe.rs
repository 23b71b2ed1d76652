//! A local server that speaks the documented wire format of Stripe's PaymentIntents and Refunds: bodies
//! as forms, answers and errors as JSON objects, results kept by `Idempotency-Key`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::sandbox::{now, signature};

/// The secret key that it takes.
pub const KEY: &str = "sk_test_of_the_tests";
/// What it signs events with.
pub const SECRET: &str = "whsec_of_the_tests";

type Form = BTreeMap<String, String>;

#[derive(Default)]
struct Account {
    intents: HashMap<String, Value>,
    refunds: Vec<Value>,
    results: HashMap<(String, String), (Form, StatusCode, Value)>,
    /// Confirmations that are carried out and never answered.
    silent: u32,
    /// Headers and forms of all posts, in order.
    posts: Vec<(String, HeaderMap, Form)>,
}

/// The server. It runs until the test ends.
#[derive(Clone)]
pub struct StripeServer {
    /// Its address as a URL.
    pub url: String,
    account: Arc<Mutex<Account>>,
    creates: Arc<tokio::sync::Mutex<()>>,
}

impl StripeServer {
    /// Starts one.
    ///
    /// # Panics
    /// When loopback has no free port.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let server = Self { url, account: Arc::default(), creates: Arc::default() };
        let routes = Router::new()
            .route("/v1/payment_intents", post(create))
            .route("/v1/payment_intents/{id}", get(retrieve))
            .route("/v1/payment_intents/{id}/{action}", post(act))
            .route("/v1/refunds", post(refund).get(refunds))
            .with_state(server.clone());
        let limits = shared::serve::Limits {
            connections_max: 1_000,
            shutdown_timeout: std::time::Duration::ZERO,
        };
        tokio::spawn(shared::serve::serve(listener, routes, limits, Default::default()));
        server
    }

    /// The next confirmations are carried out and never answered.
    pub fn be_silent(&self, count: u32) {
        self.account().silent = count;
    }

    /// No PaymentIntent is made while this is kept.
    pub async fn hold_creates(&self) -> tokio::sync::OwnedMutexGuard<()> {
        self.creates.clone().lock_owned().await
    }

    /// The PaymentIntents.
    #[must_use]
    pub fn intents(&self) -> Vec<Value> {
        self.account().intents.values().cloned().collect()
    }

    /// The refunds.
    #[must_use]
    pub fn refunds(&self) -> Vec<Value> {
        self.account().refunds.clone()
    }

    /// Path, headers and form of every post so far.
    #[must_use]
    pub fn posts(&self) -> Vec<(String, HeaderMap, BTreeMap<String, String>)> {
        self.account().posts.clone()
    }

    /// Changes a PaymentIntent past the API: what a customer or a bank does.
    ///
    /// # Panics
    /// When there is none of that name.
    pub fn change(&self, id: &str, fields: &Value) {
        let mut account = self.account();
        let intent = account.intents.get_mut(id).expect("the PaymentIntent");
        for (name, value) in fields.as_object().into_iter().flatten() {
            intent[name] = value.clone();
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out a post once for its key, as documented.
    fn once(
        &self,
        path: &str,
        headers: &HeaderMap,
        body: &str,
        work: impl FnOnce(&mut Account, &Form) -> (StatusCode, Value),
    ) -> (StatusCode, Value) {
        let form = pairs(body);
        let text = |name: &str| {
            headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        if text("authorization") != format!("Bearer {KEY}") {
            return error(StatusCode::UNAUTHORIZED, json!({"type": "invalid_request_error"}));
        }
        assert_eq!(text("content-type"), "application/x-www-form-urlencoded");
        let key = (path.to_owned(), text("idempotency-key"));
        assert!(!key.1.is_empty(), "a post without a key");
        let mut account = self.account();
        account.posts.push((path.to_owned(), headers.clone(), form.clone()));
        if let Some((first, status, result)) = account.results.get(&key) {
            if *first != form {
                let reused = json!({"type": "idempotency_error"});
                return error(StatusCode::BAD_REQUEST, reused);
            }
            return (*status, result.clone());
        }
        let (status, result) = work(&mut account, &form);
        account.results.insert(key, (form, status, result.clone()));
        (status, result)
    }
}

/// An event as it is sent, with its signature.
#[must_use]
pub fn event(id: &str, kind: &str, object: &Value) -> (String, String) {
    let body = json!({
        "id": id, "object": "event", "api_version": "2024-06-20", "created": now(),
        "livemode": false, "pending_webhooks": 1, "type": kind,
        "request": { "id": null, "idempotency_key": null }, "data": { "object": object },
    })
    .to_string();
    let signature = signature(SECRET, now(), &body);
    (body, signature)
}

fn pairs(text: &str) -> Form {
    let url = reqwest::Url::parse(&format!("http://form/?{text}")).expect("a form");
    url.query_pairs().into_owned().collect()
}

fn error(status: StatusCode, error: Value) -> (StatusCode, Value) {
    (status, json!({ "error": error }))
}

fn metadata(form: &Form) -> Value {
    let of = form.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix("metadata[")?.strip_suffix(']')?;
        Some((name.to_owned(), json!(value)))
    });
    Value::Object(of.collect::<Map<_, _>>())
}

fn amount(form: &Form) -> i64 {
    form["amount"].parse().expect("an amount in the minor unit")
}

async fn create(State(server): State<StripeServer>, headers: HeaderMap, body: String) -> Response {
    drop(server.creates.lock().await);
    let (status, answer) = server.once("/v1/payment_intents", &headers, &body, |account, form| {
        // Stripe's least amount is about half a euro.
        if amount(form) < 50 {
            let small = json!({"type": "invalid_request_error", "code": "amount_too_small"});
            return error(StatusCode::BAD_REQUEST, small);
        }
        let id = format!("pi_{}", Uuid::new_v4().simple());
        let currency = &form["currency"];
        assert_eq!(*currency, currency.to_lowercase(), "currencies are in small letters");
        let intent = json!({
            "id": id, "object": "payment_intent", "amount": amount(form), "amount_received": 0,
            "currency": currency, "client_secret": format!("{id}_secret_x"),
            "status": "requires_payment_method", "last_payment_error": null,
            "cancellation_reason": null, "metadata": metadata(form),
        });
        account.intents.insert(id, intent.clone());
        (StatusCode::OK, intent)
    });
    (status, Json(answer)).into_response()
}

async fn retrieve(State(server): State<StripeServer>, Path(id): Path<String>) -> Response {
    match server.account().intents.get(&id) {
        Some(intent) => Json(intent.clone()).into_response(),
        None => {
            let missing = json!({"type": "invalid_request_error", "code": "resource_missing"});
            let (status, body) = error(StatusCode::NOT_FOUND, missing);
            (status, Json(body)).into_response()
        }
    }
}

async fn act(
    State(server): State<StripeServer>,
    Path((id, action)): Path<(String, String)>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let path = format!("/v1/payment_intents/{id}/{action}");
    let (status, answer) = server.once(&path, &headers, &body, |account, form| {
        let intent = account.intents.get_mut(&id).expect("a PaymentIntent that was made");
        let open = ["requires_payment_method", "requires_confirmation", "requires_action"];
        if !open.iter().any(|state| intent["status"] == *state) {
            let unexpected = json!({
                "type": "invalid_request_error", "code": "payment_intent_unexpected_state",
                "payment_intent": intent,
            });
            return error(StatusCode::BAD_REQUEST, unexpected);
        }
        if action == "cancel" {
            intent["status"] = json!("canceled");
            return (StatusCode::OK, intent.clone());
        }
        confirmed(intent, &form["payment_method"])
    });
    let silent = {
        let mut account = server.account();
        let silent = action == "confirm" && account.silent > 0;
        account.silent = account.silent.saturating_sub(u32::from(silent));
        silent
    };
    if silent {
        std::future::pending::<()>().await;
    }
    (status, Json(answer)).into_response()
}

fn confirmed(intent: &mut Value, method: &str) -> (StatusCode, Value) {
    match method {
        "pm_card_chargeDeclined" => {
            let declined = json!({
                "type": "card_error", "code": "card_declined", "decline_code": "generic_decline",
                "message": "Your card was declined.",
            });
            intent["last_payment_error"] = declined.clone();
            let mut failure = declined;
            failure["payment_intent"] = intent.clone();
            error(StatusCode::PAYMENT_REQUIRED, failure)
        }
        "pm_missing" => {
            let missing = json!({"type": "invalid_request_error", "code": "resource_missing"});
            error(StatusCode::BAD_REQUEST, missing)
        }
        "pm_card_authenticationRequired" => {
            intent["status"] = json!("requires_action");
            (StatusCode::OK, intent.clone())
        }
        _ => {
            intent["status"] = json!("succeeded");
            intent["amount_received"] = intent["amount"].clone();
            (StatusCode::OK, intent.clone())
        }
    }
}

async fn refund(State(server): State<StripeServer>, headers: HeaderMap, body: String) -> Response {
    let (status, answer) = server.once("/v1/refunds", &headers, &body, |account, form| {
        let charge = &form["payment_intent"];
        let back: i64 = account
            .refunds
            .iter()
            .filter(|refund| refund["payment_intent"] == **charge && refund["status"] != "failed")
            .filter_map(|refund| refund["amount"].as_i64())
            .sum();
        let intent = &account.intents[charge];
        let left = intent["amount_received"].as_i64().expect("an amount") - back;
        if amount(form) > left {
            let twice = json!({"type": "invalid_request_error", "code": "charge_already_refunded"});
            return error(StatusCode::BAD_REQUEST, twice);
        }
        let refund = json!({
            "id": format!("re_{}", Uuid::new_v4().simple()), "object": "refund",
            "amount": amount(form), "currency": intent["currency"], "payment_intent": charge,
            "status": "succeeded", "metadata": metadata(form),
        });
        account.refunds.push(refund.clone());
        (StatusCode::OK, refund)
    });
    (status, Json(answer)).into_response()
}

async fn refunds(State(server): State<StripeServer>, RawQuery(query): RawQuery) -> Json<Value> {
    let query = pairs(&query.unwrap_or_default());
    let of = |refund: &&Value| refund["payment_intent"] == *query["payment_intent"];
    let data: Vec<Value> = server.account().refunds.iter().filter(of).cloned().collect();
    Json(json!({ "object": "list", "url": "/v1/refunds", "has_more": false, "data": data }))
}
