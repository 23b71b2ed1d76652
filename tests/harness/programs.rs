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

/// Beside the running bench, or beside the directory in which cargo puts tests.
fn program(name: &str) -> PathBuf {
    let running = std::env::current_exe().expect("a running program has a file");
    let path = running.ancestors().skip(1).take(2).map(|directory| directory.join(name));
    let found = path.into_iter().find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{name} is missing: run `cargo build --bins` first"))
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
