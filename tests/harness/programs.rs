//! The services' own binaries, for tests that need a process: to signal, to kill, to deceive about the
//! time. `tests/run.sh` builds them first.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use local::leash::Signal;
use local::service::Service;

/// The waiting room's binary.
#[must_use]
pub fn waiting_room() -> PathBuf {
    program("waiting-room")
}

/// The checkout's binary.
#[must_use]
pub fn checkout() -> PathBuf {
    program("checkout")
}

/// Beside the directory in which cargo puts the tests.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a file");
    let directory = test.parent().and_then(Path::parent).expect("target/<profile>/deps/<test>");
    let path = directory.join(name);
    assert!(path.exists(), "{} is missing: run `cargo build --bins` first", path.display());
    path
}

/// A loopback address with a free port.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn address() -> SocketAddr {
    ([127, 0, 0, 1], local::ports::free().expect("loopback has free ports")).into()
}

/// Sends a signal to a service.
///
/// # Panics
/// When it has ended.
pub fn signal(service: &Service, signal: Signal) {
    service.signal(signal).expect("the service runs");
}

/// The library that shows a process another time (Debian's package faketime).
///
/// # Panics
/// When it is not installed.
#[must_use]
pub fn faketime() -> String {
    let places = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"];
    let library = places
        .iter()
        .map(|place| Path::new(place).join("faketime/libfaketimeMT.so.1"))
        .find(|library| library.exists());
    library.expect("the package faketime is installed").display().to_string()
}
