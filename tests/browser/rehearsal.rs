//! The report of a rehearsal.

use clap::Parser;
use tests::browser::{Browser, Look};
use tests::deployment::Deployment;
use tests::keys::OPS_TOKEN;
use tests::rehearse::{Cli, run};
use tests::{sandbox, stores};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn the_report_says_what_held_and_can_be_read_by_everybody() {
    let at = Deployment::start().await;
    let line = [
        "rehearse",
        "--people",
        "200",
        "--pre-queue",
        "4",
        "--arrive",
        "8",
        "--think",
        "0.2",
        "--hidden",
        "0",
        "--minutes",
        "4",
        "--rate",
        "1200",
        "--cap",
        "70",
        "--hold",
        "6",
        "--session",
        "40",
        "--env-file",
        "/nowhere",
        "--ops-token",
        OPS_TOKEN,
        "--sandbox-key",
        sandbox::KEY,
        "--sandbox-url",
        at.sandbox.url(),
        "--room-ops-url",
        at.room.ops.base(),
        "--checkout-ops-url",
        at.checkout.ops.base(),
        "--room-url",
        at.room.public.base(),
        "--checkout-url",
        at.checkout.public.base(),
    ];
    let cli = Cli::try_parse_from(line).expect("its own flags");
    let report = run(&cli, CancellationToken::new(), true).await.expect("it begins");
    let file = stores::scratch().join("rehearsal.html");
    std::fs::write(&file, report.page()).expect("the temporary directory is writable");

    let look = Look { height: 1_500, ..Look::desktop() };
    let browser = Browser::open(look.clone()).await;
    browser.goto(&format!("file://{}", file.display())).await;
    browser.sees("h1", "Everything held").await;
    browser.sees("#held + ul", "No more tokens in any 60 seconds than the rate").await;
    assert_eq!(browser.script("return document.querySelectorAll('svg').length").await, 6);
    browser.is_accessible(look.clone()).await;
    browser.screenshot("rehearsal-report").await;
    browser.script("document.querySelector('#course').scrollIntoView()").await;
    browser.screenshot("rehearsal-report-charts").await;
    for (look, name) in [
        (look.dark(), "rehearsal-report-dark"),
        (Look { height: 3_000, ..Look::phone() }, "rehearsal-report-phone"),
        (Look { height: 3_000, ..Look::narrow() }, "rehearsal-report-narrow"),
    ] {
        browser.show(&look).await;
        let sideways = "return document.documentElement.scrollWidth > innerWidth";
        assert_eq!(browser.script(sideways).await, false, "{name} scrolls sideways");
        browser.screenshot(name).await;
    }
    browser.is_accessible(Look::phone()).await;
}
