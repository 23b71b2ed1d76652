//! The report's tables, as HTML and as text.

use std::fmt::Write;

use super::super::verdict::Outcome;
use super::Report;

/// Text, as it may stand in HTML.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            sign => safe.push(sign),
        }
    }
    safe
}

/// A table that scrolls by itself where it is too wide. Heads that begin with # stand over numbers.
fn table(name: &str, heads: &[&str], rows: impl Iterator<Item = String>) -> String {
    let head = |head: &&str| match head.strip_prefix('#') {
        Some(head) => format!(r#"<th scope="col" class="number">{head}</th>"#),
        None => format!(r#"<th scope="col">{head}</th>"#),
    };
    let heads: String = heads.iter().map(head).collect();
    let rows: String = rows.collect();
    format!(
        r#"<div class="scroll" role="region" tabindex="0" aria-label="{name}"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"#
    )
}

/// A list, since a phone is too narrow for these sentences side by side.
pub(super) fn checks(report: &Report) -> String {
    let item = |check: &super::Check| {
        let class = match check.outcome {
            Outcome::Held => "held",
            Outcome::Broken => "broken",
            Outcome::NotObserved => "unseen",
        };
        format!(
            r#"<li><span class="id">{}</span><strong>{}</strong><span class="mark {class}">{}</span><span class="seen">{}</span></li>"#,
            check.id,
            escaped(check.what),
            check.outcome.word(),
            escaped(&check.seen)
        )
    };
    let items: String = report.checks.iter().map(item).collect();
    format!(r#"<ul class="checks">{items}</ul>"#)
}

pub(super) fn latencies(report: &Report) -> String {
    let row = |one: &super::super::figures::Latency| {
        let ms = one.ms;
        let cells: String = [ms.p50, ms.p90, ms.p99, ms.p999, ms.max]
            .iter()
            .map(|ms| format!("<td class=\"number\">{ms:.1}</td>"))
            .collect();
        format!(
            r#"<tr><th scope="row">{}</th><td class="number">{}</td>{cells}</tr>"#,
            one.name,
            grouped(ms.count)
        )
    };
    let heads = ["Call", "#Count", "#p50 ms", "#p90 ms", "#p99 ms", "#p99.9 ms", "#max ms"];
    table("How long calls took", &heads, report.figures.latencies.iter().map(row))
}

pub(super) fn answers(report: &Report) -> String {
    let row = |one: &super::super::figures::Count| {
        let status =
            if one.answer.status == 0 { "–".to_owned() } else { one.answer.status.to_string() };
        format!(
            r#"<tr><th scope="row">{}</th><td>{status}</td><td>{}</td><td class="number">{}</td></tr>"#,
            one.answer.call.name(),
            escaped(&one.answer.code),
            grouped(one.count)
        )
    };
    table("Answers", &["Call", "Status", "Code", "#Count"], report.figures.answers.iter().map(row))
}

/// How ways ended, and what was planned.
pub(super) fn people(report: &Report) -> String {
    let ends = report.figures.ends.iter().map(|(end, count)| (words(end), *count));
    let ends = ends.map(|(name, count)| row(&name, count));
    let plan = serde_json::to_value(&report.plan).unwrap_or_default();
    let planned = plan.as_object().into_iter().flatten();
    let planned =
        planned.map(|(name, count)| row(&name.replace('_', " "), count.as_u64().unwrap_or(0)));
    format!(
        r#"<div class="pair"><div><h3>How they were to behave</h3>{}</div><div><h3>How it ended for them</h3>{}</div></div>"#,
        table("How they were to behave", &["Behaviour", "#People"], planned),
        table("How it ended for them", &["End", "#People"], ends)
    )
}

fn row(name: &str, count: u64) -> String {
    format!(
        r#"<tr><th scope="row">{}</th><td class="number">{}</td></tr>"#,
        escaped(name),
        grouped(count)
    )
}

/// A word as it is in the JSON, for people.
fn words(value: &impl serde::Serialize) -> String {
    let word = serde_json::to_value(value).unwrap_or_default();
    word.as_str().unwrap_or_default().replace('_', " ")
}

/// 12,345
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// In one line.
pub(super) fn headline(report: &Report) -> (&'static str, String) {
    let broken = report.checks.iter().filter(|check| check.outcome == Outcome::Broken).count();
    match report.exit_code {
        0 => ("held", "Everything held".to_owned()),
        1 if broken == 1 => ("broken", "One thing that must hold was broken".to_owned()),
        1 => ("broken", format!("{broken} things that must hold were broken")),
        _ if report.ended_early => {
            ("unseen", "Nothing was broken, but it was ended early".to_owned())
        }
        _ => ("unseen", "Nothing was broken, but too little was seen".to_owned()),
    }
}

/// What people should know before they read the figures.
pub(super) fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    let refused = report.figures.joins_refused_by_address;
    if refused > 0 {
        notes.push(format!(
            "{} joins were refused because too many came from one address. The waiting room counts them by \
             address: for a rehearsal, start it with STANCHION_JOIN_LIMIT_PER_MINUTE=0 (deploy/local.sh --bench \
             does), or pass --client-ip-header with the header of its STANCHION_CLIENT_IP_HEADER.",
            grouped(refused)
        ));
    }
    if let Some(late) = report.figures.own_lateness_ms
        && late.p99 > 100.0
    {
        notes.push(format!(
            "The rehearsal itself was up to {:.0} ms late with one in a hundred of its own actions: this machine \
             was short of processor time, and latencies say as much of it as of the services.",
            late.p99
        ));
    }
    notes
}

/// The verdict as text.
pub(super) fn text(report: &Report) -> String {
    let mut text = format!("\n{}\n\n", headline(report).1);
    for check in &report.checks {
        let _ = writeln!(
            text,
            "{:>12}  {:>7}  {}\n{:>23}{}",
            check.outcome.word(),
            check.id,
            check.what,
            "",
            check.seen
        );
    }
    let figures = &report.figures;
    let _ = writeln!(
        text,
        "\nadmitted in each minute: {:?}; {} in the busiest 60 s, {} allowed",
        figures.admitted_per_minute, figures.busiest_minute, report.promised.rate_per_minute
    );
    if let Some(fair) = figures.fairness {
        let _ = writeln!(
            text,
            "Kendall's tau between rank and admission: {:.3} ({} people)",
            fair.kendall_tau, fair.people
        );
    }
    if let Some(told) = figures.forecast {
        let _ = writeln!(
            text,
            "the wait told came true for {:.0} % of {} people; off by p50 {:.0} s, p90 {:.0} s, p99 {:.0} s",
            100.0 * told.within,
            told.people,
            told.off_seconds_p50,
            told.off_seconds_p90,
            told.off_seconds_p99
        );
    }
    for one in &figures.latencies {
        let ms = one.ms;
        let _ = writeln!(
            text,
            "{:>20}  {:>9} ×  p50 {:>8.1}  p90 {:>8.1}  p99 {:>8.1}  p99.9 {:>8.1}  max {:>8.1} ms",
            one.name, ms.count, ms.p50, ms.p90, ms.p99, ms.p999, ms.max
        );
    }
    for note in notes(report) {
        let _ = writeln!(text, "\nnote: {note}");
    }
    text
}
