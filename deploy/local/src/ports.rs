//! Free ports on the loopback interface.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::bail;
use uuid::Uuid;

/// Below the range from which Linux (32768 on) and macOS (49152 on) take the ports of outgoing
/// connections. A port of that range can be lost to any client while a server restarts, and a
/// client that calls a dead server's port there can even be connected to itself.
const FIRST: u16 = 20_000;
const LAST: u16 = 31_999;
const ATTEMPTS: usize = 200;

/// A port on 127.0.0.1 that nobody listens on at this moment.
///
/// Nothing is reserved: whoever uses it must be ready to lose the race and ask again.
///
/// # Errors
/// When no free port was found.
pub fn free() -> anyhow::Result<u16> {
    for _ in 0..ATTEMPTS {
        let [a, b, ..] = *Uuid::new_v4().as_bytes();
        let port = FIRST + u16::from_be_bytes([a, b]) % (LAST - FIRST + 1);
        if is_free(port) {
            return Ok(port);
        }
    }
    bail!("no free port between {FIRST} and {LAST} after {ATTEMPTS} attempts")
}

/// `preferred` when nobody listens on it, else any free port.
///
/// # Errors
/// As [`free`].
pub fn prefer(preferred: u16) -> anyhow::Result<u16> {
    if is_free(preferred) { Ok(preferred) } else { free() }
}

/// Whether a server could listen on 127.0.0.1:`port`.
#[must_use]
pub fn is_free(port: u16) -> bool {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_not_free_and_another_is_found() {
        let port = free().unwrap();
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert!(!is_free(port));
        assert_ne!(prefer(port).unwrap(), port);
        drop(held);
        assert_eq!(prefer(port).unwrap(), port);
    }
}
