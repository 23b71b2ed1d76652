//! Waiting for a condition, with a deadline and never by a fixed sleep.

use std::time::Duration;

use anyhow::{Context, bail};
use tokio::time::{Instant, sleep, timeout_at};

/// How often a condition is looked at.
const INTERVAL: Duration = Duration::from_millis(25);

/// Calls `probe` until it succeeds and returns what it gave.
///
/// # Errors
/// When `within` has passed: the error of the last attempt, with how long was waited.
pub async fn until<T>(
    within: Duration,
    mut probe: impl AsyncFnMut() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + within;
    let mut last = None;
    loop {
        match timeout_at(deadline, probe()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => last = Some(error),
            Err(_) => {}
        }
        if Instant::now() + INTERVAL >= deadline {
            break;
        }
        sleep(INTERVAL).await;
    }
    let waited = format!("gave up after {} s", within.as_secs_f32());
    match last {
        Some(error) => Err(error).context(waited),
        None => bail!("{waited} without an answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_error_is_told() {
        let never =
            until(Duration::from_millis(60), async || -> anyhow::Result<()> { bail!("not yet") });
        let error = format!("{:#}", never.await.unwrap_err());
        assert!(error.contains("gave up after 0.06 s") && error.contains("not yet"), "{error}");
    }

    #[tokio::test]
    async fn a_probe_that_hangs_is_given_up_too() {
        let never = until(Duration::from_millis(60), async || {
            std::future::pending::<()>().await;
            Ok(())
        });
        assert!(never.await.is_err());
    }
}
