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
