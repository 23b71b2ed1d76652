// The page: signing in, the list of events, one event live.

import { Refused, follow, get, post, room } from './api.js';
import { refreshAudit } from './audit.js';
import { Charts } from './charts.js';
import { Controls } from './controls.js';
import { showAlarms, showEvent } from './event.js';
import { STATUS, make, number, one } from './words.js';

const event = new URLSearchParams(location.search).get('event');
const LIST_INTERVAL_MS = 5000;
const AUDIT_INTERVAL_MS = 10000;
const LISTED_MAX = 100;

function view(id) {
  for (const name of ['sign-in', 'list', 'event']) one(name).hidden = name !== id;
  one('crumbs').hidden = id !== 'event';
  one('sign-out').hidden = id === 'sign-in';
}

/** Whoever is not signed in any more has to sign in again; other trouble is left to the next attempt. */
function trouble(error) {
  if (!(error instanceof Refused)) throw error;
  if (error.status === 401) location.reload();
}

const repeat = (interval, act) => {
  const again = () => act().catch(trouble).finally(() => setTimeout(again, interval));
  return again();
};

function signIn() {
  view('sign-in');
  one('token').focus();
  one('sign-in-form').addEventListener('submit', async (submitted) => {
    submitted.preventDefault();
    const problem = one('sign-in-problem');
    problem.textContent = '';
    try {
      await post('/dashboard/sign-in', { token: one('token').value });
      location.reload();
    } catch (refused) {
      problem.textContent = refused.message;
      one('token').select();
    }
  });
}

async function refreshList() {
  const { events } = await get('/v1/admin/events');
  const listed = events.slice(0, LISTED_MAX);
  const figures = await Promise.all(listed.map((name) => get(`${room(name)}/metrics`).catch(() => null)));
  one('list-note').textContent = events.length > LISTED_MAX ? `The first ${LISTED_MAX} of ${number(events.length)}.`
    : events.length ? '' : 'There is no event yet: create one with PUT /v1/admin/events/{event}.';
  const focused = document.activeElement?.id;
  one('list-rows').replaceChildren(...listed.map((name, n) => {
    const now = figures[n];
    const cell = (text) => make('td', { className: 'number' }, text);
    const link = make('a', { href: `/dashboard?event=${encodeURIComponent(name)}`, id: `go-${name}` }, name);
    if (!now) return make('tr', {}, make('th', { scope: 'row' }, link), make('td', { colSpan: 5 }, 'not known to this node yet'));
    const alarms = now.alarms.map((alarm) => alarm.message).join(' ');
    return make('tr', {}, make('th', { scope: 'row' }, link), make('td', {}, STATUS[now.status] ?? now.status),
      cell(number(now.waiting)), cell(`${number(now.active_sessions)} / ${number(now.max_active_sessions)}`),
      cell(number(now.last_minute.admitted)), make('td', { className: alarms ? 'alarm' : '' }, alarms || 'none'));
  }));
  if (focused) one(focused)?.focus();
}

async function watch(role) {
  view('event');
  one('slug').textContent = event;
  const charts = new Charts(one('charts'));
  const controls = new Controls(event, role === 'full', () => refresh());
  const refresh = async () => {
    const now = await controls.refresh();
    one('name').textContent = now.name;
    document.title = `${now.name} · Stanchion dashboard`;
    controls.show(now.status);
    await refreshAudit(event);
  };
  try {
    await refresh();
  } catch (refused) {
    if (refused.status === 404) return void (one('name').textContent = 'There is no such event');
    trouble(refused);
  }
  repeat(LIST_INTERVAL_MS, async () => charts.show(await get(`${room(event)}/metrics/history`)));
  repeat(AUDIT_INTERVAL_MS, () => refreshAudit(event));
  let version = null;
  follow(event, (now) => {
    showEvent(now);
    controls.show(now.status);
    if (version !== null && now.version !== version) refresh().catch(trouble);
    version = now.version;
  }, () => {
    showAlarms([{ code: 'node_silent', message: 'This node does not answer. What is shown was known before.' }]);
    get('/v1/admin/session').catch(trouble);
  });
}

async function start() {
  one('sign-out').addEventListener('click', () => post('/dashboard/sign-out').then(() => location.assign('/dashboard')));
  let session;
  try {
    session = await get('/v1/admin/session');
  } catch (refused) {
    if (refused.status === 401) return signIn();
    view('list');
    return void (one('list-note').textContent = refused.message);
  }
  one('role').hidden = session.role !== 'read';
  one('role').textContent = 'read only';
  if (event) return watch(session.role);
  view('list');
  return repeat(LIST_INTERVAL_MS, refreshList);
}

start();
