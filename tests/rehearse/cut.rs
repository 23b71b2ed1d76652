//! A request whose connection is cut before its answer is read: the answer is lost, as in a tunnel.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use reqwest::{Request, Url};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream, lookup_host};

const WITHIN: Duration = Duration::from_secs(5);

/// Sends a request, or with `half` all of it but its last bytes, and cuts the connection. Whether that was
/// possible: over TLS it is not.
pub(crate) async fn cut(request: &Request, source: Option<IpAddr>, half: bool) -> bool {
    let sent = tokio::time::timeout(WITHIN, send(request, source, half)).await;
    matches!(sent, Ok(Some(())))
}

async fn send(request: &Request, source: Option<IpAddr>, half: bool) -> Option<()> {
    let url = request.url();
    if url.scheme() != "http" {
        return None;
    }
    let mut bytes = head(request, url);
    if let Some(body) = request.body().and_then(reqwest::Body::as_bytes) {
        bytes.extend_from_slice(body);
    }
    if half {
        bytes.truncate(bytes.len() - 2);
    }
    let mut stream = connect(url, source).await?;
    stream.write_all(&bytes).await.ok()?;
    // Whoever goes away in a tunnel sends no farewell; the peer finds out when it answers.
    drop(stream);
    Some(())
}

fn head(request: &Request, url: &Url) -> Vec<u8> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(80);
    let mut head =
        format!("{} {} HTTP/1.1\r\nhost: {host}:{port}\r\n", request.method(), url.path());
    for (name, value) in request.headers() {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
    }
    let length = request.body().and_then(reqwest::Body::as_bytes).map_or(0, <[u8]>::len);
    head.push_str(&format!("content-length: {length}\r\n\r\n"));
    head.into_bytes()
}

async fn connect(url: &Url, source: Option<IpAddr>) -> Option<TcpStream> {
    let host = url.host_str()?.trim_matches(['[', ']']);
    let mut found = lookup_host((host, url.port_or_known_default()?)).await.ok()?;
    let address = found.next()?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.ok()?;
    if let Some(source) = source {
        socket.bind(SocketAddr::new(source, 0)).ok()?;
    }
    socket.connect(address).await.ok()
}
