//! The Grafana dashboard and the alert rules in `deploy` ask for metrics that there are.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

const PREFIXES: [&str; 4] = ["waiting_room_", "checkout_", "http_", "panics_"];

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is below the root");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
}

/// What the services describe; `documented.rs` holds that against what they measure.
fn described() -> BTreeSet<String> {
    ["waiting-room/src/lib.rs", "checkout/src/lib.rs"]
        .into_iter()
        .flat_map(|path| {
            let text = read(path);
            let comments = text.lines().filter(|line| line.starts_with("//!"));
            let names = comments.flat_map(|line| line.split('`').skip(1).step_by(2));
            names.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

/// Metrics in an expression, without what a histogram's parts have behind the name.
fn metrics(text: &str) -> BTreeSet<String> {
    let parts = ["_bucket", "_count", "_sum"];
    words(text)
        .filter(|word| PREFIXES.iter().any(|prefix| word.starts_with(prefix)))
        .map(|word| parts.iter().find_map(|part| word.strip_suffix(part)).unwrap_or(word))
        .map(str::to_owned)
        .collect()
}

fn assert_are_described(what: &str, text: &str, min: usize) {
    let (described, used) = (described(), metrics(text));
    assert!(described.len() > 30, "only {} metrics: has their description moved?", described.len());
    let unknown: Vec<_> = used.difference(&described).collect();
    assert!(unknown.is_empty(), "{what} asks for {unknown:?}, which nobody measures");
    assert!(used.len() >= min, "{what} asks for {} metrics only", used.len());
}

#[test]
fn the_alerts_ask_for_metrics_that_there_are() {
    let alerts = read("deploy/prometheus/alerts.yml");
    assert_are_described("alerts.yml", &alerts, 15);
    let count = |mark: &str| alerts.matches(mark).count();
    assert_eq!(count("- alert: "), count("  expr: "));
    assert_eq!(count("- alert: "), count("severity: "));
    assert_eq!(count("- alert: "), count("summary: "));
    // Job names are those of the sample.
    let sample = read("deploy/prometheus/prometheus.yml");
    for job in ["waiting-room", "checkout"] {
        assert!(sample.contains(&format!("job_name: {job}\n")), "{job}");
    }
}

#[test]
fn the_grafana_dashboard_asks_for_metrics_that_there_are() {
    let text = read("deploy/grafana/stanchion.json");
    assert_are_described("stanchion.json", &text, 25);
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let variables = dashboard["templating"]["list"].as_array().expect("variables");
    assert!(variables.iter().any(|variable| variable["type"] == "datasource"));
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "an id is there twice");
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let targets = panel["targets"].as_array().expect("questions");
        assert!(!targets.is_empty(), "{}", panel["title"]);
        for target in targets {
            // Whichever data source is chosen: the panel is not of the one of its author.
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{}", panel["title"]);
            let expression = target["expr"].as_str().unwrap_or_default();
            assert!(!metrics(expression).is_empty(), "{}: {expression}", panel["title"]);
        }
    }
}
