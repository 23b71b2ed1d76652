//! How far it is: a bar on a terminal, a line every ten seconds elsewhere.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::interval;
use tokio_util::sync::CancellationToken;

use super::stage::Stage;

const LINE_EVERY: u64 = 10;

/// Shows it on standard error until it is `ended`, or not at all.
pub(crate) async fn show(stage: Arc<Stage>, people: u64, opens_ms: u64, ended: CancellationToken) {
    let bar = stderr().is_terminal().then(|| bar(people));
    let mut seconds = interval(Duration::from_secs(1));
    let mut count = 0u64;
    while ended.run_until_cancelled(seconds.tick()).await.is_some() {
        let line = line(&stage, opens_ms);
        match &bar {
            Some(bar) => {
                bar.set_position(stage.live.arrived.load(Relaxed));
                bar.set_message(line);
            }
            None if count.is_multiple_of(LINE_EVERY) => eprintln!("{line}"),
            None => {}
        }
        count += 1;
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn bar(people: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} came  {msg}");
    let bar = ProgressBar::new(people);
    style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
}

fn line(stage: &Stage, opens_ms: u64) -> String {
    let live = &stage.live;
    let now_ms = stage.caller.now_ms();
    let opening = if now_ms < opens_ms {
        format!("opens in {} s", (opens_ms - now_ms).div_ceil(1_000))
    } else {
        format!("open for {} s", (now_ms - opens_ms) / 1_000)
    };
    format!(
        "{}:{:02}  {opening}  arrived {}  in the queue {}  admitted {}  bought {}  errors {}",
        now_ms / 60_000,
        now_ms / 1_000 % 60,
        live.arrived.load(Relaxed),
        live.in_queue.load(Relaxed),
        live.admitted.load(Relaxed),
        live.bought.load(Relaxed),
        stage.caller.errors(),
    )
}
