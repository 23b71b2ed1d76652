//! The report as a page: one file, nothing from elsewhere, no script.

use super::super::record::Sample;
use super::Report;
use super::chart::Chart;
use super::tables::{answers, checks, escaped, grouped, headline, latencies, notes, people};

const STYLE: &str = include_str!("page.css");
/// Bars of the admissions are so wide.
const BAR_SECONDS: u64 = 10;

pub(super) fn page(report: &Report) -> String {
    let (class, verdict) = headline(report);
    let notes: String = notes(report)
        .iter()
        .map(|note| format!(r#"<p class="note">{}</p>"#, escaped(note)))
        .collect();
    let charts = [
        crowd(report),
        admissions(report),
        sessions(report),
        stock(report),
        order(report),
        waits(report),
    ];
    let charts: String = charts.iter().map(Chart::figure).collect();
    let promised = &report.promised;
    format!(
        r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Rehearsal: {verdict}</title><style>{STYLE}</style></head>
<body><header><p class="kind">Rehearsal of a sale</p><h1 class="{class}">{verdict}</h1>
<p class="about">{people} people, {rate} a minute, {cap} sessions at once, {places} places · payment: {payment} · seed {seed} · {when} · took {took}</p></header>
<main>{notes}<section><dl class="tiles">{tiles}</dl></section>
<section><h2 id="held">What must hold</h2>{checks}</section>
<section><h2 id="course">How it went</h2><div class="charts">{charts}</div></section>
<section><h2 id="latency">How long calls took</h2><p>From the moment at which each was due; what a slow answer kept from being asked is counted too.</p>{latencies}</section>
<section><h2 id="people">People</h2>{who}</section>
<section><h2 id="answers">Answers</h2>{answers}</section></main>
<footer><p>Event {event}. The same crowd again: <code>--people {raw} --seed {seed}</code> and the same flags.</p></footer></body></html>
"#,
        people = grouped(report.plan.people as u64),
        raw = report.plan.people,
        rate = grouped(promised.rate_per_minute),
        cap = grouped(promised.cap),
        places = grouped(promised.places.unsigned_abs()),
        payment = escaped(promised.payment),
        seed = report.seed,
        when = escaped(&when(report)),
        took = minutes(report.took_ms),
        tiles = tiles(report),
        checks = checks(report),
        latencies = latencies(report),
        who = people(report),
        answers = answers(report),
        event = escaped(&promised.event),
    )
}

fn when(report: &Report) -> String {
    let at = report.started_at;
    format!("{} {:02}:{:02} UTC", at.date(), at.hour(), at.minute())
}

fn minutes(ms: u64) -> String {
    format!("{}:{:02} min", ms / 60_000, ms / 1_000 % 60)
}

fn tiles(report: &Report) -> String {
    let last = report.samples.last().cloned().unwrap_or_default();
    let figures = &report.figures;
    let mut tiles = vec![
        ("admitted", grouped(last.admitted), "people".to_owned()),
        ("bought", grouped(last.bought), "people".to_owned()),
        (
            "busiest 60 s",
            grouped(figures.busiest_minute),
            format!("of {} allowed", grouped(report.promised.rate_per_minute)),
        ),
    ];
    if let Some(fair) = figures.fairness {
        let people = format!("Kendall’s τ of {} people", grouped(fair.people));
        tiles.push(("order kept", format!("{:.3}", fair.kendall_tau), people));
    }
    if let Some(told) = figures.forecast {
        let share = format!("{:.0} %", 100.0 * told.within);
        tiles.push((
            "waits as told",
            share,
            format!("off by {:.0} s at the median", told.off_seconds_p50),
        ));
    }
    let tile = |(name, value, unit): (&str, String, String)| {
        format!("<div><dt>{name}</dt><dd><b>{value}</b><span>{unit}</span></dd></div>")
    };
    tiles.into_iter().map(tile).collect()
}

#[expect(clippy::cast_precision_loss, reason = "figures for a chart")]
fn number(value: u64) -> f64 {
    value as f64
}

fn line(report: &Report, of: impl Fn(&Sample) -> u64) -> Vec<(f64, f64)> {
    let point = |sample: &Sample| (number(sample.at_ms) / 1_000.0, number(of(sample)));
    report.samples.iter().map(point).collect()
}

fn seconds(report: &Report) -> (&'static str, f64) {
    (
        "seconds from the start",
        report.samples.last().map_or(1.0, |last| number(last.at_ms) / 1_000.0),
    )
}

fn most(lines: &[&[(f64, f64)]]) -> f64 {
    lines.iter().flat_map(|line| line.iter()).map(|point| point.1).fold(0.0, f64::max)
}

fn crowd(report: &Report) -> Chart<'static> {
    let lines = [
        line(report, |one| one.arrived),
        line(report, |one| one.waiting),
        line(report, |one| one.admitted),
        line(report, |one| one.bought),
    ];
    let top = most(&lines.each_ref().map(Vec::as_slice));
    let mut chart = Chart::new("The crowd", seconds(report), ("people", top));
    for (colour, (name, points)) in
        ["arrived", "waiting", "admitted", "bought"].into_iter().zip(&lines).enumerate()
    {
        chart.line(name, colour + 1, points);
    }
    chart.moment(number(report.opened_ms) / 1_000.0);
    chart.says = format!(
        "It opened after {} s; the last look was after {:.0} s.",
        report.opened_ms / 1_000,
        seconds(report).1
    );
    chart
}

fn admissions(report: &Report) -> Chart<'static> {
    let mut bars =
        vec![0.0; usize::try_from(report.took_ms / 1_000 / BAR_SECONDS + 1).unwrap_or(1)];
    let mut before = 0;
    for sample in &report.samples {
        let bar = usize::try_from(sample.at_ms / 1_000 / BAR_SECONDS).unwrap_or_default();
        if let Some(bar) = bars.get_mut(bar) {
            *bar += number(sample.tokens_total.saturating_sub(before));
        }
        before = sample.tokens_total;
    }
    let limit = number(report.promised.rate_per_minute) * number(BAR_SECONDS) / 60.0;
    let top = bars.iter().copied().fold(limit, f64::max);
    let mut chart = Chart::new("Admissions", seconds(report), ("people in ten seconds", top));
    chart.bars("admitted", 1, number(BAR_SECONDS), &bars);
    chart.limit("the rate", limit);
    chart.says = format!(
        "At most {} in any minute, {} allowed.",
        report.figures.busiest_minute, report.promised.rate_per_minute
    );
    chart
}

fn sessions(report: &Report) -> Chart<'static> {
    let active = line(report, |one| one.active);
    let cap = number(report.promised.cap);
    let top = most(&[&active]);
    // A cap far above would flatten the line.
    let top = if cap <= 2.0 * top { cap.max(top) } else { top };
    let mut chart = Chart::new("Sessions at once", seconds(report), ("sessions", top));
    chart.line("active", 2, &active);
    if cap <= top {
        chart.limit("the cap", cap);
    }
    chart.says = format!("At most {:.0}, {cap} allowed.", most(&[&active]));
    chart
}

fn stock(report: &Report) -> Chart<'static> {
    let seen = report.samples.iter().filter_map(|one| Some((one.at_ms, one.available?)));
    let left: Vec<(f64, f64)> =
        seen.map(|(ms, left)| (number(ms) / 1_000.0, number(left.unsigned_abs()))).collect();
    let mut chart = Chart::new("Places left", seconds(report), ("places", most(&[&left])));
    chart.line("available", 4, &left);
    let last = left.last().map_or(0.0, |point| point.1);
    chart.says = format!("{last:.0} of {} were left at the last look.", report.promised.places);
    chart
}

fn order(report: &Report) -> Chart<'static> {
    let points: Vec<(f64, f64)> =
        report.order.iter().map(|(rank, ms)| (number(*rank), number(*ms) / 1_000.0)).collect();
    let widest = points.iter().map(|point| point.0).fold(0.0, f64::max);
    let mut chart = Chart::new(
        "Rank and admission",
        ("rank", widest),
        ("admitted after seconds", most(&[&points])),
    );
    chart.points("a person", 3, &points);
    let tau = report.figures.fairness.map_or(0.0, |fair| fair.kendall_tau);
    chart.says = format!(
        "Kendall’s tau is {tau:.3}. Points off the line are people who came late when they were called."
    );
    chart
}

fn waits(report: &Report) -> Chart<'static> {
    let middle = |(min, max, actual): &(u64, u64, f64)| (number(min + max) / 2.0, *actual);
    let points: Vec<(f64, f64)> = report.waits.iter().map(middle).collect();
    let widest = points.iter().flat_map(|point| [point.0, point.1]).fold(1.0, f64::max);
    let mut chart =
        Chart::new("Waits, told and real", ("seconds told", widest), ("seconds waited", widest));
    chart.points("a person", 4, &points);
    chart.diagonal("as told", widest, widest);
    let within = report.figures.forecast.map_or(0.0, |told| 100.0 * told.within);
    chart.says = format!("{within:.0} percent came true within the range told.");
    chart
}
