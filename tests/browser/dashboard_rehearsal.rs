//! The dashboard while a sale is rehearsed.

use clap::Parser;
use serde_json::Value;
use tests::browser::{Browser, Look};
use tests::deployment::Deployment;
use tests::keys::OPS_TOKEN;
use tests::rehearse::{Cli, run};
use tests::{sandbox, wait};
use tokio_util::sync::CancellationToken;

/// Moments of a rehearsal at which page and API are compared.
const MOMENTS: usize = 5;

fn rehearsal(at: &Deployment) -> Cli {
    let line = [
        ("--people", "300"),
        ("--pre-queue", "6"),
        ("--arrive", "15"),
        ("--think", "1"),
        ("--hidden", "0"),
        ("--minutes", "4"),
        ("--rate", "600"),
        ("--cap", "50"),
        ("--hold", "8"),
        ("--session", "40"),
        ("--env-file", "/nowhere"),
        ("--ops-token", OPS_TOKEN),
        ("--sandbox-key", sandbox::KEY),
        ("--sandbox-url", at.sandbox.url()),
        ("--room-ops-url", at.room.ops.base()),
        ("--checkout-ops-url", at.checkout.ops.base()),
        ("--room-url", at.room.public.base()),
        ("--checkout-url", at.checkout.public.base()),
    ];
    let line = line.iter().flat_map(|(flag, value)| [*flag, *value]);
    Cli::try_parse_from(std::iter::once("rehearse").chain(line)).expect("its own flags")
}

#[tokio::test(flavor = "multi_thread")]
async fn its_numbers_are_the_apis_while_a_sale_is_rehearsed() {
    let at = Deployment::start().await;
    let cli = rehearsal(&at);
    let (report, ()) = tokio::join!(run(&cli, CancellationToken::new(), true), watch(&at));
    let report = report.expect("it begins");
    assert_eq!(report.exit_code(), 0, "{}", report.text());
}

async fn watch(at: &Deployment) {
    let event = wait::until("the rehearsal to make its event", async || {
        let list = at.room.ops.get("/v1/admin/events").await.expect(200).json();
        list["events"][0].as_str().map(str::to_owned)
    })
    .await;

    let look = Look { height: 1_500, ..Look::desktop() };
    let browser = Browser::open(look).await;
    browser.goto(&format!("{}/dashboard?event={event}", at.room.ops.base())).await;
    browser.enter("#token", OPS_TOKEN).await;
    browser.click("#sign-in button").await;
    browser.find("#figure-waiting").await;

    let path = format!("/v1/admin/events/{event}/metrics");
    let mut seen: Vec<[u64; 3]> = Vec::new();
    while seen.len() < MOMENTS {
        let figures = wait::until("page and API to agree", async || {
            let now = at.room.ops.get(&path).await.expect(200).json();
            let figures = [
                number(&now["waiting"]),
                number(&now["active_sessions"]),
                number(&now["last_minute"]["admitted"]),
            ];
            let shown = ["waiting", "active", "admitted"];
            for (name, figure) in shown.iter().zip(figures) {
                let text = browser.text(&format!("#figure-{name} dd")).await;
                let first = text.split(' ').next().unwrap_or_default().replace(',', "");
                (first == figure.to_string()).then_some(())?;
            }
            (figures[1] > 0 && !seen.contains(&figures)).then_some(figures)
        })
        .await;
        seen.push(figures);
    }
    wait::until("the sale to be well under way", async || {
        let now = at.room.ops.get(&path).await.expect(200).json();
        (number(&now["last_minute"]["admitted"]) >= 100).then_some(())
    })
    .await;
    browser.screenshot("dashboard-rehearsal").await;
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}
