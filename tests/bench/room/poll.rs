//! My place, against an empty route of the same server: the same accept loop, no layer, no work.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, ensure};
use axum::Router;
use axum::routing::get;
use serde_json::json;
use shared::serve::{Limits, serve};
use tests::stores;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::stack::{Stack, tickets};

const PEOPLE: u64 = 1_000_000;
/// Enough that nobody's turn to poll comes before he was told to.
const TICKETS: u64 = 500_000;
const ROUNDS: usize = 3;
const CONNECTIONS: &str = "128";
const SECONDS: &str = "6";

/// Every request with the next ticket; each of wrk's threads begins elsewhere.
const SCRIPT: &str = r#"
local count = 0
function setup(thread) thread:set("first", count) count = count + 1 end
function init(args)
  tickets = {}
  for line in io.lines(args[1]) do tickets[#tickets + 1] = line end
  next_one = math.floor(#tickets * first / 2)
end
function request()
  next_one = next_one % #tickets + 1
  return wrk.format("GET", nil, {["authorization"] = "Bearer " .. tickets[next_one]})
end
"#;

pub(crate) async fn run() -> anyhow::Result<()> {
    let stack = Stack::start().await?;
    stack.create(&json!({"admission_rate_per_minute": 1})).await;
    stack.pretend_joined(PEOPLE).await;
    let directory = stores::scratch();
    let (script, list) = (directory.join("poll.lua"), directory.join("tickets"));
    std::fs::write(&script, SCRIPT)?;
    let step = usize::try_from(PEOPLE / TICKETS)?;
    std::fs::write(&list, tickets((2..=PEOPLE).step_by(step))?.join("\n"))?;

    let shutdown = CancellationToken::new();
    let bare = bare_route(shutdown.clone()).await?;
    let place = format!("{}/v1/events/sale/queue", stack.public.base());
    let (mut polls, mut bares) = (Vec::new(), Vec::new());
    let (script, list) = (script.display().to_string(), list.display().to_string());
    for _ in 0..ROUNDS {
        polls.push(wrk(&["-s", &script, &place, "--", &list]).await?);
        bares.push(wrk(&["-s", &script, &bare, "--", &list]).await?);
    }
    shutdown.cancel();
    let (poll, bare) = (median(&mut polls), median(&mut bares));
    println!("my place, {CONNECTIONS} connections, median of {ROUNDS} × {SECONDS} s each");
    println!("  my place          {poll:>8.0} requests/s");
    println!("  empty axum route  {bare:>8.0} requests/s");
    println!("  ratio             {:>8.2}", poll / bare);
    Ok(())
}

async fn bare_route(shutdown: CancellationToken) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let routes = Router::new().route("/", get(|| async { "{}" }));
    let limits = Limits { connections_max: 10_000, shutdown_timeout: Duration::from_secs(1) };
    tokio::spawn(serve(listener, routes, limits, shutdown));
    Ok(url)
}

/// Requests a second, all of which must have been answered with 2xx.
async fn wrk(arguments: &[&str]) -> anyhow::Result<f64> {
    let output = Command::new("wrk")
        .args(["-t2", "-c", CONNECTIONS, "-d", SECONDS])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .await
        .context("wrk (Debian's package of that name) cannot be run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "wrk: {}", String::from_utf8_lossy(&output.stderr));
    ensure!(!text.contains("Non-2xx"), "not every answer was a 2xx:\n{text}");
    let rate = text.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    Ok(rate.context("wrk says no rate")?.trim().parse()?)
}

fn median(figures: &mut [f64]) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
