//! A shop behind a proxy, which says who has come, as far as its proxy told it.

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::client::Client;

/// A shop that greets at `/` and below `/checkout/`.
///
/// # Panics
/// When there is no free port.
pub async fn start() -> Client {
    let greet = async |headers: HeaderMap| {
        let subject = headers.get("x-admission-subject").and_then(|value| value.to_str().ok());
        format!("welcome {}", subject.unwrap_or("stranger"))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let address = listener.local_addr().expect("bound");
    let routes = Router::new()
        .route("/", get(greet))
        .route("/checkout/", get(greet))
        .route("/checkout/{*path}", get(greet));
    #[expect(clippy::disallowed_methods, reason = "somebody's shop, not one of our services")]
    tokio::spawn(async { axum::serve(listener, routes).await });
    Client::new(address)
}
