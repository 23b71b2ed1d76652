//! A small rehearsal: all held where the services are as they should be, and broken where they are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Parser;
use serde_json::{Value, json};
use tests::deployment::Deployment;
use tests::keys::OPS_TOKEN;
use tests::rehearse::{Cli, Outcome, run};
use tests::{sandbox, wait};
use tokio_util::sync::CancellationToken;

/// Many people in little time, nobody with a hidden tab, which would take a minute.
fn cli(at: &Deployment, room: &str, checkout: &str, more: &[&str]) -> Cli {
    let mut line = vec![
        "rehearse",
        "--people",
        "150",
        "--pre-queue",
        "3",
        "--arrive",
        "5",
        "--think",
        "0.2",
        "--hidden",
        "0",
        "--minutes",
        "4",
        "--hold",
        "6",
        "--session",
        "40",
        "--claim-window",
        "30",
        "--double-click",
        "40",
        "--cut",
        "25",
        "--bots",
        "8",
        "--greedy",
        "15",
        "--env-file",
        "/nowhere",
        "--ops-token",
        OPS_TOKEN,
        "--sandbox-key",
        sandbox::KEY,
        "--sandbox-url",
        at.sandbox.url(),
        "--room-ops-url",
        at.room.ops.base(),
        "--checkout-ops-url",
        at.checkout.ops.base(),
        "--room-url",
        room,
        "--checkout-url",
        checkout,
    ];
    line.extend(more);
    Cli::try_parse_from(line).expect("its own flags")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_of_a_sound_deployment_says_that_all_of_it_held() {
    let at = Deployment::start().await;
    let cli = cli(
        &at,
        at.room.public.base(),
        at.checkout.public.base(),
        &["--rate", "900", "--cap", "60"],
    );
    let report = run(&cli, CancellationToken::new(), true).await.expect("it begins");
    assert_eq!(report.exit_code(), 0, "{}", report.text());
    for id in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "order", "answers"] {
        let (outcome, seen) = report.outcome(id).expect("it is looked at");
        assert_eq!(outcome, Outcome::Held, "{id}: {seen}\n{}", report.text());
    }
    let json: Value = serde_json::from_str(&report.json()).expect("JSON");
    assert_eq!(json["schema"], json!("stanchion-rehearsal/1"));
    assert!(
        json["figures"]["fairness"]["kendall_tau"].as_f64().is_some_and(|tau| tau > 0.3),
        "{json:#}"
    );
    // The event is closed, so that nobody comes in after the rehearsal.
    let event = json["promised"]["event"].as_str().expect("a name");
    let room = at.room.ops.get(&format!("/v1/admin/events/{event}")).await.expect(200);
    assert_eq!(room.str("status"), "closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_that_is_ended_early_says_what_it_has_seen_and_that_it_was_not_enough() {
    let at = Deployment::start().await;
    at.room.create("short", &json!({})).await.expect(201);
    at.checkout.on_sale("short", 500).await;
    let cli = cli(&at, at.room.public.base(), at.checkout.public.base(), &["--event", "short"]);
    let interrupt = CancellationToken::new();
    let (running, seen) = (run(&cli, interrupt.clone(), true), async {
        wait::until("some people to have come", async || {
            let figures = at.room.ops.get("/v1/admin/events/short/metrics").await;
            (figures.number("last_number") > 10).then_some(())
        })
        .await;
        interrupt.cancel();
    });
    let (report, ()) = tokio::join!(running, seen);
    let report = report.expect("it begins");
    assert_eq!(report.exit_code(), 3, "{}", report.text());
    assert!(report.page().contains("ended early"), "{}", report.text());
}

/// Stands before a service and lies about it.
#[derive(Clone)]
struct Liar {
    service: String,
    http: reqwest::Client,
    asked: Arc<AtomicU64>,
}

impl Liar {
    /// The address of a liar before the service at `service`.
    async fn before(service: &str) -> String {
        let http = reqwest::Client::builder().no_proxy().build().expect("a plain client");
        let liar = Self { service: service.to_owned(), http, asked: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let routes = Router::new().fallback(lie).with_state(liar);
        #[expect(clippy::disallowed_methods, reason = "a stand-in of one test needs no limits")]
        tokio::spawn(async move { axum::serve(listener, routes).await });
        format!("http://{address}")
    }
}

async fn lie(State(liar): State<Liar>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    if path == "/v1/reservations" && is_unsigned(&parts.headers) {
        return (StatusCode::CREATED, "{}").into_response();
    }
    let url = format!("{}{path}", liar.service);
    let mut headers = parts.headers;
    headers.remove("host");
    let forward = liar.http.request(parts.method, url).headers(headers).body(body);
    let Ok(answer) = forward.send().await else { return StatusCode::BAD_GATEWAY.into_response() };
    let (status, headers) = (answer.status(), answer.headers().clone());
    let text = answer.bytes().await.unwrap_or_default();
    let nth = liar.asked.fetch_add(1, Ordering::Relaxed);
    let mut told = HeaderMap::new();
    for name in ["content-type", "retry-after"] {
        if let Some(value) = headers.get(name) {
            told.insert(name, value.clone());
        }
    }
    (status, told, changed(&path, &text, nth)).into_response()
}

/// Another token at each claim, another reservation at each order, more and more people ahead.
fn changed(path: &str, text: &Bytes, nth: u64) -> Bytes {
    let Ok(mut body) = serde_json::from_slice::<Value>(text) else { return text.clone() };
    if path.ends_with("/admission") && body["admission_token"].is_string() {
        body["nth"] = json!(nth);
    } else if path == "/v1/reservations" && body["id"].is_string() {
        body["id"] = json!(format!("{}{nth}", body["id"].as_str().unwrap_or_default()));
    } else if path.ends_with("/queue") && body["users_ahead"].is_number() {
        body["users_ahead"] = json!(nth);
    } else {
        return text.clone();
    }
    Bytes::from(body.to_string())
}

fn is_unsigned(headers: &HeaderMap) -> bool {
    let token = headers.get("authorization").and_then(|value| value.to_str().ok());
    let head = token.and_then(|token| token.strip_prefix("Bearer ")?.split('.').next());
    let head = head.and_then(|head| URL_SAFE_NO_PAD.decode(head).ok()).unwrap_or_default();
    String::from_utf8_lossy(&head).contains("none")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_says_what_is_broken_and_fails() {
    let at = Deployment::start().await;
    let room = Liar::before(at.room.public.base()).await;
    let checkout = Liar::before(at.checkout.public.base()).await;
    // An event that lets in more than the rehearsal was told.
    at.room.create("loose", &json!({"admission_rate_per_minute": 3_000})).await.expect(201);
    at.checkout.on_sale("loose", 500).await;
    let told = [
        "--event",
        "loose",
        "--rate",
        "20",
        "--cap",
        "5",
        "--early",
        "0",
        "--people",
        "100",
        "--slow-payer",
        "0",
        "--cancel",
        "0",
    ];
    let cli = cli(&at, &room, &checkout, &told);
    let report = run(&cli, CancellationToken::new(), true).await.expect("it begins");
    assert_eq!(report.exit_code(), 1, "{}", report.text());
    for id in ["3", "8", "9", "10"] {
        let (outcome, seen) = report.outcome(id).expect("it is looked at");
        assert_eq!(outcome, Outcome::Broken, "{id}: {seen}\n{}", report.text());
    }
    for sentence in ["tokens in any 60 s", "sessions at once", "with another token"] {
        assert!(report.text().contains(sentence), "{}", report.text());
    }
}
