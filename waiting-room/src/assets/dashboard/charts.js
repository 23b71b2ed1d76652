// The last hour, as charts with a legend that tells the last value and a table that tells the same.

/* global uPlot */
import { decimal, duration, make, number, table } from './words.js';

const HOUR = 3600;
/** A node that was started a moment ago shows that moment, and not an empty hour. */
const SPAN_MIN = 300;
const STEPS_MINUTES = [1, 2, 3, 5, 10, 15];
const HEIGHT = 150;

/** Each has up to three lines: the series, its name, how a value is said. */
const CHARTS = [
  ['Queue', [['waiting', 'Waiting', number], ['joined_in_60s', 'Joined a minute', number], ['called', 'Called', number]]],
  ['Let in, a minute', [['admitted_in_60s', 'Let in', number], ['rate_per_minute', 'Configured', number], ['effective_rate_per_minute', 'Effective', number]]],
  ['Sessions', [['active_sessions', 'Active', number], ['max_active_sessions', 'Cap', number]]],
  ['Wait', [['estimated_wait_seconds', 'Predicted', duration], ['waited_seconds', 'Actual', duration]]],
  ['Places', [['available', 'Available', number], ['held', 'Held', number], ['confirmed', 'Confirmed', number]]],
  ['Reservations a second', [['reservations_per_second', 'Reservations', decimal]]],
  ['Refusals a minute, no-shows in percent', [['refusals_in_60s', 'Refusals', number], ['no_show_percent', 'No-shows, %', number]]],
  ['Checkout', [['queue_delay_ms', 'Queue delay, ms', number], ['holds_overdue', 'Overdue holds', number]]],
];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Charts {
  constructor(place) {
    this.place = place;
    this.charts = CHARTS.map(([title, lines]) => new Chart(title, lines));
    place.replaceChildren(...this.charts.map((chart) => chart.figure));
    const redraw = () => this.charts.forEach((chart) => chart.draw());
    new ResizeObserver(redraw).observe(place);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.charts.forEach((chart) => chart.forget());
      redraw();
    });
  }

  show(history) {
    this.charts.forEach((chart) => chart.show(history));
  }
}

class Chart {
  constructor(title, lines) {
    Object.assign(this, { title, lines, data: null, plot: null });
    this.legend = make('ul');
    this.canvas = make('div', { className: 'plot', ariaHidden: 'true' });
    this.details = make('details', {}, make('summary', {}, 'As a table'));
    this.details.firstChild.ariaLabel = `${title} as a table`;
    this.details.addEventListener('toggle', () => this.tell());
    this.figure = make('figure', {}, make('figcaption', {}, title), this.legend, this.canvas, this.details);
  }

  show(history) {
    this.data = [history.at_ms.map((ms) => ms / 1000), ...this.lines.map(([series]) => history.series[series] ?? [])];
    const items = this.lines.map(([, name, say], n) => `${name} ${say(this.data[n + 1].at(-1))}`);
    if (this.legend.children.length !== items.length) this.legend.replaceChildren(...items.map(() => make('li')));
    items.forEach((text, n) => { this.legend.children[n].textContent = text; });
    this.draw();
    this.tell();
  }

  forget() {
    this.plot?.destroy();
    this.plot = null;
  }

  draw() {
    if (!this.data || !this.canvas.clientWidth) return;
    const now = this.data[0].at(-1) ?? Date.now() / 1000;
    const size = { width: this.canvas.clientWidth, height: HEIGHT };
    if (!this.plot) this.plot = new uPlot(this.options(size), this.data, this.canvas);
    if (this.plot.width !== size.width) this.plot.setSize(size);
    this.plot.setData(this.data, false);
    const span = Math.min(HOUR, Math.max(SPAN_MIN, now - (this.data[0][0] ?? now)));
    this.plot.setScale('x', { min: now - span, max: now });
  }

  options(size) {
    const [, , say] = this.lines[0];
    const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
    const minutes = (plot, times) => times.map((at) => {
      const ago = Math.round((plot.scales.x.max - at) / 60);
      return ago ? `−${ago} min` : 'now';
    });
    const every = ({ scales: { x } }) => {
      const minutes = (x.max - x.min) / 60;
      const step = STEPS_MINUTES.find((step) => minutes / step <= 5) ?? 15;
      const count = Math.floor(minutes / step + 0.01);
      return Array.from({ length: count + 1 }, (_, n) => x.max - (count - n) * step * 60);
    };
    return {
      ...size,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 12, 0, 0],
      scales: {
        x: { time: false, auto: false },
        y: { range: (plot, min, max) => [0, Math.max(max ?? 0, 1) * 1.08] },
      },
      series: [{}, ...this.lines.map(([, name], n) => ({
        label: name, stroke: colour(`--s${n + 1}`), width: 1.75, dash: n === 1 ? [6, 4] : undefined,
        points: { show: false }, spanGaps: false,
      }))],
      axes: [
        { ...axis, size: 26, splits: every, values: minutes },
        { ...axis, size: 56, values: (plot, values) => values.map((value) => say(value)) },
      ],
    };
  }

  tell() {
    if (!this.details.open || !this.data) return;
    const [times, ...lines] = this.data;
    const now = times.at(-1);
    const ago = (line, minutes) => line[times.findIndex((at) => at >= now - minutes * 60)];
    const rows = lines.map((line, n) => {
      const [, name, say] = this.lines[n];
      const known = line.filter((value) => value !== null);
      const bounds = known.length ? [Math.min(...known), Math.max(...known)] : [null, null];
      const before = [15, 30, 45].map((minutes) => (now - minutes * 60 < times[0] ? null : ago(line, minutes)));
      return [name, ...[line.at(-1), ...before, ...bounds].map((value) => say(value))];
    });
    const columns = ['Line', 'Now', '15 min ago', '30 min ago', '45 min ago', 'Lowest', 'Highest'];
    const region = make('div', { className: 'scrolls', tabIndex: 0, role: 'region', ariaLabel: `${this.title}, figures` },
      table(this.title, columns, rows));
    this.details.querySelector('.scrolls')?.remove();
    this.details.append(region);
  }
}
