//! Charts as SVG, drawn here: lines, bars and points. Colours are the page's.

use std::fmt::Write;

use super::tables::escaped;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;
const TICKS: usize = 4;

/// A chart's frame: what it shows, and how far its axes go. Both begin at 0.
pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    /// The same in a sentence, for people who do not see it.
    pub(super) says: String,
    pub(super) x: &'a str,
    pub(super) y: &'a str,
    x_max: f64,
    y_max: f64,
    marks: String,
    legend: Vec<(usize, &'a str)>,
}

impl<'a> Chart<'a> {
    pub(super) fn new(title: &'a str, x: (&'a str, f64), y: (&'a str, f64)) -> Self {
        let (x_max, y_max) = (x.1.max(1.0), round_up(y.1));
        let (says, marks, legend) = (String::new(), String::new(), Vec::new());
        Self { title, says, x: x.0, y: y.0, x_max, y_max, marks, legend }
    }

    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = (WIDTH - LEFT - RIGHT) * (x / self.x_max).clamp(0.0, 1.0);
        let up = (HEIGHT - TOP - BOTTOM) * (y / self.y_max).clamp(0.0, 1.0);
        (LEFT + across, HEIGHT - BOTTOM - up)
    }

    /// A line, with its name in the legend; `colour` is 1 to 4.
    pub(super) fn line(&mut self, name: &'a str, colour: usize, points: &[(f64, f64)]) {
        let mut path = String::new();
        for (index, &(x, y)) in points.iter().enumerate() {
            let (x, y) = self.at(x, y);
            let _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" });
        }
        let _ = write!(self.marks, r#"<path class="line c{colour}" d="{path}"/>"#);
        self.legend.push((colour, name));
    }

    /// A level that is not to be passed.
    pub(super) fn limit(&mut self, name: &'a str, y: f64) {
        let ((x1, y1), (x2, _)) = (self.at(0.0, y), self.at(self.x_max, y));
        let _ = write!(self.marks, r#"<path class="limit" d="M{x1:.1} {y1:.1}L{x2:.1} {y1:.1}"/>"#);
        self.legend.push((0, name));
    }

    /// A moment.
    pub(super) fn moment(&mut self, x: f64) {
        let ((x, bottom), (_, top)) = (self.at(x, 0.0), self.at(x, self.y_max));
        let _ =
            write!(self.marks, r#"<path class="moment" d="M{x:.1} {bottom:.1}L{x:.1} {top:.1}"/>"#);
    }

    /// Where both axes say the same, or another straight line from 0.
    pub(super) fn diagonal(&mut self, name: &'a str, x: f64, y: f64) {
        let ((x1, y1), (x2, y2)) = (self.at(0.0, 0.0), self.at(x, y));
        let _ = write!(self.marks, r#"<path class="limit" d="M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"/>"#);
        self.legend.push((0, name));
    }

    /// A bar from one x to another.
    pub(super) fn bars(&mut self, name: &'a str, colour: usize, width: f64, heights: &[f64]) {
        let mut from = 0.0;
        for &height in heights {
            let ((x1, y1), (x2, y2)) = (self.at(from, height), self.at(from + width, 0.0));
            let (wide, high) = ((x2 - x1 - 1.0).max(0.5), y2 - y1);
            let _ = write!(
                self.marks,
                r#"<rect class="c{colour}" x="{x1:.1}" y="{y1:.1}" width="{wide:.1}" height="{high:.1}"/>"#
            );
            from += width;
        }
        self.legend.push((colour, name));
    }

    pub(super) fn points(&mut self, name: &'a str, colour: usize, points: &[(f64, f64)]) {
        for &(x, y) in points {
            let (x, y) = self.at(x, y);
            let _ =
                write!(self.marks, r#"<circle class="c{colour}" cx="{x:.1}" cy="{y:.1}" r="2"/>"#);
        }
        self.legend.push((colour, name));
    }

    /// A `figure` with the chart and its legend.
    pub(super) fn figure(&self) -> String {
        let mut axes = String::new();
        for tick in 0..=TICKS {
            let share = part(tick, TICKS);
            let ((x0, y), (x1, _)) =
                (self.at(0.0, self.y_max * share), self.at(self.x_max, self.y_max * share));
            let _ = write!(
                axes,
                r#"<path class="grid" d="M{x0:.1} {y:.1}L{x1:.1} {y:.1}"/><text class="end" x="{:.1}" y="{:.1}">{}</text>"#,
                x0 - 8.0,
                y + 4.5,
                short(self.y_max * share)
            );
        }
        let step = plain_step(self.x_max);
        let mut x = 0.0;
        while x <= self.x_max {
            let (across, y) = self.at(x, 0.0);
            let _ = write!(
                axes,
                r#"<text class="middle" x="{across:.1}" y="{:.1}">{}</text>"#,
                y + 18.0,
                short(x)
            );
            x += step;
        }
        let (middle, foot) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6.0);
        let legend = self.legend.iter().map(|(colour, name)| {
            format!(
                r#"<li><span class="key k{colour}" aria-hidden="true"></span>{}</li>"#,
                escaped(name)
            )
        });
        format!(
            r#"<figure><figcaption><h3>{title}</h3></figcaption><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{says}">{axes}{marks}<text class="middle name" x="{middle}" y="{foot}">{x}</text></svg><ul class="legend"><li class="unit">{y}</li>{legend}</ul></figure>"#,
            title = escaped(self.title),
            says = escaped(&format!("{}. {}", self.title, self.says)),
            marks = self.marks,
            x = escaped(self.x),
            y = escaped(self.y),
            legend = legend.collect::<String>(),
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn part(of: usize, all: usize) -> f64 {
    of as f64 / all as f64
}

/// The next number that divides into four plain steps.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1.0).log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 6.0, 8.0, 10.0];
    let fit = steps.into_iter().map(|step| step * power).find(|step| *step >= value);
    fit.unwrap_or(10.0 * power).max(4.0)
}

/// A step of 1, 2 or 5 with which an axis of that length has at most seven.
fn plain_step(length: f64) -> f64 {
    let power = 10f64.powf((length / 7.0).max(0.1).log10().floor());
    let fit = [1.0, 2.0, 5.0].into_iter().map(|step| step * power);
    fit.into_iter().find(|step| length / step <= 7.0).unwrap_or(10.0 * power)
}

/// A number as it stands on an axis.
fn short(value: f64) -> String {
    if value >= 10_000.0 { format!("{}k", trimmed(value / 1_000.0)) } else { trimmed(value) }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_plain_numbers_that_hold_everything() {
        for value in [0.0, 1.0, 3.0, 7.0, 99.0, 101.0, 2_999.0, 3_001.0, 123_456.0] {
            let end = round_up(value);
            assert!(end >= value && end <= value.max(2.0) * 2.0, "{value}: {end}");
        }
        assert_eq!(
            (short(750.0), short(12_500.0), short(0.5)),
            ("750".into(), "12.5k".into(), "0.5".into())
        );
    }

    #[test]
    fn steps_are_plain_and_few() {
        let steps = [1.0, 7.0, 54.0, 318.0, 700.0, 9_997.0].map(plain_step);
        assert_eq!(steps, [0.2, 1.0, 10.0, 50.0, 100.0, 2_000.0]);
    }

    #[test]
    fn a_chart_is_well_formed_and_escaped() {
        let mut chart = Chart::new("A <b> & c", ("seconds", 10.0), ("people", 5.0));
        chart.line("waiting", 1, &[(0.0, 0.0), (10.0, 5.0)]);
        chart.limit("cap", 4.0);
        chart.points("people", 2, &[(1.0, f64::INFINITY)]);
        let text = chart.figure();
        assert!(text.contains("A &lt;b&gt; &amp; c") && !text.contains("<b>"));
        assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
        assert_eq!(text.matches("<figure>").count(), text.matches("</figure>").count());
    }
}
