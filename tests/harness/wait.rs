//! Waiting for a condition, with a deadline and without a guess at how long it takes.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Generous, because machines are shared; a test that passes never waits for it.
pub const DEADLINE: Duration = Duration::from_secs(60);
const STEP: Duration = Duration::from_millis(20);

/// Waits until `condition` gives something.
///
/// # Panics
/// After [`DEADLINE`], with what was waited for.
pub async fn until<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(Instant::now() < deadline, "waited {DEADLINE:?} for {what}");
        sleep(STEP).await;
    }
}

/// Runs a service, and says on the way out why it could not go on.
///
/// # Errors
/// The service's own.
pub async fn and_say_why_it_ended(
    what: &str,
    running: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    running.await.inspect_err(|error| eprintln!("{what} ended: {error:?}"))
}
