//! Listeners: an accept loop with a header timeout, a ceiling on connections and a bounded
//! shutdown, none of which `axum::serve` has.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// A client that has not sent its headers by then is cut off. The time in which a connection is kept for
/// the next request counts too: longer than a page's heartbeat, so that its polls need no new one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(75);
/// Pause after a failed accept: most often the process is out of file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Bounds on a listener.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections open at once; more wait in the kernel's backlog.
    pub connections_max: u32,
    /// How long a shutdown waits for requests under way.
    pub shutdown_timeout: Duration,
}

/// The two sockets of a service. They come from outside, so that a test can bind port 0.
#[derive(Debug)]
pub struct Listeners {
    /// What browsers and clients reach.
    pub public: TcpListener,
    /// What operators reach.
    pub ops: TcpListener,
}

impl Listeners {
    /// Binds both addresses.
    pub async fn bind(public: SocketAddr, ops: SocketAddr) -> std::io::Result<Self> {
        Ok(Self { public: TcpListener::bind(public).await?, ops: TcpListener::bind(ops).await? })
    }

    /// Serves both until `shutdown`.
    pub async fn serve(
        self,
        public: Router,
        ops: Router,
        limits: Limits,
        shutdown: CancellationToken,
    ) {
        tokio::join!(
            serve(self.public, public, limits, shutdown.clone()),
            serve(self.ops, ops, limits, shutdown)
        );
    }
}

/// Serves until `shutdown`, then lets requests under way finish, within the limit.
pub async fn serve(
    listener: TcpListener,
    routes: Router,
    limits: Limits,
    shutdown: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(limits.connections_max as usize));
    let open = GracefulShutdown::new();
    loop {
        let place = tokio::select! {
            () = shutdown.cancelled() => break,
            place = places.clone().acquire_owned() => place,
        };
        let (stream, peer) = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok(connection) => connection,
                Err(error) => {
                    tracing::warn!(error = %error, "connection not accepted");
                    tokio::time::sleep(ACCEPT_RETRY).await;
                    continue;
                }
            },
        };
        let connection = open.watch(connection(stream, peer, routes.clone()));
        tokio::spawn(async move {
            // An error here is the client's going away.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.shutdown_timeout, open.shutdown()).await.is_err() {
        tracing::warn!("requests still under way at the end of the shutdown, cut off");
    }
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    routes: Router,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(error = %error, "TCP_NODELAY not set");
    }
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let routes = routes.clone();
        async move { Ok::<_, Infallible>(answer(routes, request).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
}

async fn answer(routes: Router, request: hyper::Request<Incoming>) -> axum::response::Response {
    match routes.oneshot(request.map(Body::new)).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Cancelled at Ctrl-C or SIGTERM.
pub fn shutdown_signal() -> std::io::Result<CancellationToken> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let shutdown = CancellationToken::new();
    let token = shutdown.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("shutting down");
        token.cancel();
    });
    Ok(shutdown)
}
