// How things are said: numbers, times, states. And how they are put on the page, always as text.

const whole = new Intl.NumberFormat('en');
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

export const number = (value) => (value === null || value === undefined ? '–' : whole.format(value));
export const decimal = (value) => (value === null || value === undefined ? '–' : tenth.format(value));
export const time = (ms) => clock.format(new Date(ms));

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${tenth.format(seconds / 3600)} h`;
}

/** A range, with its unit once when it is the same: 6–8 min. */
export function wait(range) {
  if (!range) return '–';
  const [from, to] = [duration(range.min), duration(range.max)];
  const [low, unit] = from.split(' ');
  return to.endsWith(` ${unit}`) ? (from === to ? to : `${low}–${to}`) : `${from} – ${to}`;
}

export const STATUS = {
  scheduled: 'Scheduled', pre_queue: 'Pre-queue', open: 'Open', paused: 'Paused', draining: 'Draining',
  sold_out: 'Sold out', closed: 'Closed',
};

export const REASON = {
  configured_rate: 'at the configured rate',
  checkout_busy: 'the checkout is busy: the rate is lowered',
  checkout_full: 'the cap is reached',
  all_in_baskets: 'all places are held or sold: nobody is called',
  scheduled: 'nobody may join yet',
  pre_queue: 'people gather, nobody is called',
  paused: 'nobody is called or let in',
  sold_out: 'nothing is left to sell',
  closed: 'it is over',
};

/** `code_of_a_thing` as words. */
export const spoken = (code) => code.replaceAll('_', ' ');

export const one = (id) => document.getElementById(id);

/** Changes a text only when it is another, so that nothing flickers and selections stay. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** An element with properties and children; strings become text. */
export function make(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** A table of texts; the first column names the row, the others are numbers. */
export function table(caption, columns, rows) {
  const head = columns.map((text, n) => make('th', { scope: 'col', className: n ? 'number' : '' }, text));
  const body = rows.map((row) => make('tr', {}, ...row.map((text, n) => (
    n ? make('td', { className: 'number' }, text) : make('th', { scope: 'row' }, text)))));
  return make('table', {}, make('caption', { className: 'unseen' }, caption),
    make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...body));
}
