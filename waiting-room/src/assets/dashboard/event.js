// One event's figures: what is in big letters, what is wrong, and the sale behind it.

import { REASON, STATUS, decimal, duration, make, number, one, say, spoken, table, time, wait } from './words.js';

const rates = (now) => (now.effective_rate_per_minute === now.admission_rate_per_minute
  ? `rate ${number(now.admission_rate_per_minute)}`
  : `rate ${number(now.effective_rate_per_minute)}, configured ${number(now.admission_rate_per_minute)}`);

function noShows(now) {
  if (!now.cohort_called) return 'no-shows: nobody was called lately';
  const away = now.cohort_called - now.cohort_came;
  return `no-shows: ${number(away)} of ${number(now.cohort_called)} (${Math.round((away * 100) / now.cohort_called)} %)`;
}

function actual(now) {
  const last = now.last_called;
  if (!last) return 'actual: nobody was called yet';
  const told = last.estimated_wait_seconds ? `, was told ${wait(last.estimated_wait_seconds)}` : '';
  return `actual: ${duration(last.waited_seconds)}${told}`;
}

const SALE = {
  not_configured: 'no checkout configured',
  asking: 'not asked yet',
  silent: 'no checkout answers',
  unknown_event: 'not sold by the checkout',
};

/** A figure of the sale, or why there is none. */
const ofSale = (now, known) => (now.sale.state === 'told' ? known(now.sale) : { unknown: SALE[now.sale.state] });

/** Each figure: its id, its name, and what to say of it. */
const FIGURES = [
  ['waiting', 'Waiting', (now) => ({ big: number(now.waiting), more: `${number(now.last_minute.joined)} joined in the last minute` })],
  ['called', 'Called', (now) => ({ big: number(now.on_their_way + now.standing_at_gate), more: noShows(now) })],
  ['active', 'Active sessions', (now) => ({ big: number(now.active_sessions), of: `of ${number(now.max_active_sessions)}`, meter: [now.active_sessions, now.max_active_sessions] })],
  ['admitted', 'Let in, last minute', (now) => ({ big: number(now.last_minute.admitted), more: rates(now) })],
  ['wait', 'Predicted wait', (now) => ({ big: wait(now.estimated_wait_seconds), more: actual(now) })],
  ['reservations', 'Reservations a second', (now) => ofSale(now, (sale) => ({
    big: decimal(sale.reservations_per_second), more: `${number(sale.reserve_outcomes.created ?? 0)} made in all` }))],
  ['refusals', 'Refused, last minute', (now) => ofSale(now, (sale) => ({
    big: number(Object.values(sale.refusals_in_60s).reduce((sum, count) => sum + count, 0)),
    more: Object.entries(sale.refusals_in_60s).map(([code, count]) => `${spoken(code)} ${number(count)}`).join(', ') || 'none' }))],
  ['checkout', 'Checkout’s queue delay', (now) => ofSale(now, (sale) => ({
    big: number(sale.queue_delay_ms), of: 'ms', more: `overdue holds: ${number(sale.holds_overdue?.count ?? 0)}` }))],
];

function show(id, name, figure) {
  const place = one('figures');
  let box = one(`figure-${id}`);
  if (!box) {
    box = make('div', { id: `figure-${id}` }, make('dt', {}, name), make('dd', { className: 'big' }), make('dd', { className: 'more' }));
    place.append(box);
  }
  const [, big, more] = box.children;
  big.className = figure.unknown ? 'unknown' : 'big';
  const text = figure.unknown ?? figure.big;
  if (big.dataset.text !== `${text} ${figure.of ?? ''}`) {
    big.dataset.text = `${text} ${figure.of ?? ''}`;
    big.replaceChildren(text, ...(figure.of ? [' ', make('small', {}, figure.of)] : []));
  }
  if (!figure.meter) return say(more, figure.more ?? '');
  const [value, max] = figure.meter;
  const meter = more.querySelector('meter') ?? more.appendChild(make('meter', { min: 0, ariaLabel: `${name} against the cap` }));
  meter.max = max;
  meter.value = value;
  return undefined;
}

let alarmed = '';

export function showAlarms(alarms) {
  const list = one('alarm-list');
  while (list.children.length > alarms.length) list.lastChild.remove();
  while (list.children.length < alarms.length) list.append(make('li'));
  alarms.forEach((alarm, n) => {
    list.children[n].dataset.code = alarm.code;
    say(list.children[n], alarm.message);
  });
  one('alarms').hidden = !alarms.length;
  // Said aloud when something else is wrong than before, and not with every number that changes.
  const codes = alarms.map((alarm) => alarm.code).join();
  if (codes !== alarmed) {
    alarmed = codes;
    one('announcer').textContent = alarms.length ? alarms.map((alarm) => alarm.message).join(' ') : 'All alarms are over.';
  }
}

export function showEvent(now) {
  const status = one('status');
  say(status, STATUS[now.status] ?? now.status);
  status.className = `pill ${now.status}`;
  say(one('reason'), REASON[now.reason] ?? spoken(now.reason));
  say(one('updated'), now.stale ? ` · not updated since ${time(now.at_ms)}` : ` · live, ${time(now.at_ms)}`);
  FIGURES.forEach(([id, name, of]) => show(id, name, of(now)));
  showAlarms(now.alarms);
  showSale(now.sale);
}

const NOTE = {
  not_configured: 'This node was not told of a checkout (STANCHION_CHECKOUT_OPS_URLS), so it knows nothing of the sale.',
  asking: 'The checkout has not been asked yet.',
  silent: 'No checkout answers this node. What is shown is the last that was heard.',
  unknown_event: 'The checkout has no event of this name.',
};

let shown = '';

function showSale(sale) {
  const age = sale.age_ms === null ? '' : `, ${duration(sale.age_ms / 1000)} old`;
  const told = `From ${sale.answering} of ${sale.checkouts} checkouts${age}.`;
  const note = sale.state === 'told' ? told : NOTE[sale.state] + (sale.state === 'silent' && age ? ` It is${age.slice(1)}.` : '');
  say(one('sale-note'), note);
  const { age_ms: _, ...figures } = sale;
  // Built anew only when it is another: a table that is read aloud must stay.
  if (JSON.stringify(figures) === shown) return;
  shown = JSON.stringify(figures);
  const place = one('sale');
  if (!sale.sectors.length) return void place.replaceChildren();
  const counts = (of) => Object.entries(of).map(([name, count]) => [spoken(name), number(count)]);
  const sectors = table('Places by sector', ['Sector', 'Available', 'Held', 'Confirmed', 'Capacity'],
    sale.sectors.map((sector) => [sector.name, ...[sector.available, sector.held, sector.confirmed, sector.capacity].map(number)]));
  const unsettled = sale.payments_unsettled.map((one) => [`${one.kind}, ${spoken(one.state)}`, number(one.count), duration(one.oldest_seconds)]);
  const part = (title, node) => make('div', {}, make('h3', {}, title), node);
  const none = (text) => make('p', { className: 'hint' }, text);
  const outcomes = counts(sale.reserve_outcomes);
  const payments = counts(sale.payment_outcomes);
  const wide = make('div', { className: 'scrolls', tabIndex: 0, role: 'region', ariaLabel: 'Places by sector' }, sectors);
  place.replaceChildren(wide, make('div', { className: 'sale' },
    part('Requests to reserve', outcomes.length ? table('Requests to reserve', ['Outcome', 'Count'], outcomes) : none('None yet.')),
    part('Payments not done', unsettled.length ? table('Payments not done', ['State', 'Count', 'Oldest'], unsettled) : none('None.')),
    part('Payments heard of', payments.length ? table('Payments heard of', ['Outcome', 'Count'], payments) : none('None yet.'))));
}
