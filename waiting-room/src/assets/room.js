// The waiting page: joins, shows the place, and goes on to the checkout. The place itself is in an
// HttpOnly cookie; nothing here is worth stealing.
'use strict';

const event = document.body.dataset.event;
const queue = `/v1/events/${event}/queue`;
const element = (id) => document.getElementById(id);

const RETRY_MS_MAX = 30_000;
let place = null;
let readyUntil = 0;
let furthestBehind = 0;
let shownAhead = Infinity;
let failures = 0;
let pollTimer = 0;
let heartbeatTimer = 0;
let entering = false;

// Sent again with the same id when the answer was lost, a join is still one join.
const joinId = crypto.randomUUID ? crypto.randomUUID() : null;

async function call(method, path, sent) {
  const response = await fetch(path, { method, body: sent, cache: 'no-store', credentials: 'same-origin' });
  const body = response.status === 204 ? null : await response.json();
  return { status: response.status, body, retryAfter: Number(response.headers.get('retry-after') || 0) };
}

// Doubling waits with a random part, so that everybody does not come back at once.
function retryMs() {
  const ceiling = Math.min(RETRY_MS_MAX, 1_000 * 2 ** Math.min(failures, 5));
  return ceiling / 2 + Math.random() * ceiling / 2;
}

function again(ms) {
  clearTimeout(pollTimer);
  pollTimer = setTimeout(poll, ms);
}

async function poll() {
  try {
    const joining = place === null;
    const join = joinId ? JSON.stringify({ join_id: joinId }) : undefined;
    const answer = joining ? await call('POST', queue, join) : await call('GET', queue);
    element('connection').hidden = true;
    if (answer.status === 200 || answer.status === 201) {
      failures = 0;
      show(answer.body);
      again(answer.body.poll_after_ms);
      return;
    }
    // Another tab of the same person has asked a moment ago.
    if (answer.status === 429 && !joining) return again(answer.retryAfter * 1_000 + Math.random() * 1_000);
    failures += 1;
    if (answer.status === 401 || answer.status === 410) place = null;
    if (joining || answer.status >= 500) showProblem(answer);
    again(Math.max(answer.retryAfter * 1_000, retryMs()));
  } catch {
    failures += 1;
    element('connection').hidden = false;
    again(retryMs());
  }
}

function showProblem({ body }) {
  const headlines = {
    queue_full: 'The queue is full',
    closed: 'The waiting room is closed',
    sold_out: 'Sold out',
    access_code: 'By invitation only',
    rate_limited: 'One moment, please',
  };
  if (place !== null) {
    element('connection').hidden = false;
    return;
  }
  render({ headline: headlines[body.code] || 'One moment, please', detail: `${body.detail} This page keeps trying.` });
}

function minutes({ min, max }) {
  if (max < 60) return 'Less than a minute to go.';
  const from = Math.max(1, Math.round(min / 60));
  const to = Math.max(from, Math.ceil(max / 60));
  return from === to ? `About ${from} min to go.` : `About ${from} to ${to} min to go.`;
}

// Why it takes longer than it did, where there is a reason to tell.
const REASONS = {
  checkout_busy: 'The checkout is busy, so people are let in more slowly for now.',
  checkout_full: 'The checkout is full: the next go in as others finish.',
  all_in_baskets: 'All places are in other people’s baskets right now. Some may come back.',
};

function show(next) {
  place = next;
  element('number').textContent = `Your number is ${next.number.toLocaleString()}.`;
  readyUntil = next.status === 'ready' ? Date.now() + next.seconds_left * 1_000 : 0;
  const wait = next.estimated_wait_seconds;
  // What was shown never rises while somebody stays.
  shownAhead = Math.min(shownAhead, next.users_ahead);
  furthestBehind = Math.max(furthestBehind, shownAhead);
  const views = {
    pre_queue: { headline: 'You are in. It has not opened yet.', detail: 'When it opens, everybody here is let in by turns.' },
    waiting: { headline: 'You are in the queue', detail: [wait ? minutes(wait) : 'We can’t say yet how long it will take.', REASONS[next.reason]].filter(Boolean).join(' '), ahead: true },
    paused: { headline: 'On hold for a moment', detail: 'Nobody is let in right now. You keep your place.', ahead: true },
    ready: { headline: 'It is your turn', detail: 'Go on to the checkout while your place is kept for you.', enter: true },
    admitted: { headline: 'You are let in', detail: 'Your checkout is open.', enter: true },
    missed: { headline: 'You were called', detail: 'You did not come in time. Your number is kept: say that you are back and you are called again.', back: true },
    sold_out: { headline: 'Sold out', detail: 'Everything is sold. Thank you for waiting; we are sorry.' },
    closed: { headline: 'The waiting room is closed', detail: 'Nobody is let in any more.' },
  };
  render(views[next.status]);
}

function render({ headline, detail, ahead = false, enter = false, back = false }) {
  const set = (id, text) => {
    if (element(id).textContent !== text) element(id).textContent = text;
  };
  element('room').dataset.status = place ? place.status : 'loading';
  set('headline', headline);
  document.title = `${headline} – ${document.querySelector('.event').textContent}`;
  if (!entering) set('detail', detail);
  element('ahead').hidden = !ahead || !Number.isFinite(shownAhead);
  element('progress').hidden = !ahead;
  if (ahead) {
    set('ahead-count', shownAhead.toLocaleString());
    set('ahead-label', shownAhead === 1 ? 'person ahead of you' : 'people ahead of you');
    element('progress').value = 1 - shownAhead / (furthestBehind + 1);
  }
  element('enter').hidden = !enter;
  element('back').hidden = !back;
  tickCountdown();
}

function tickCountdown() {
  const left = Math.max(0, Math.ceil((readyUntil - Date.now()) / 1_000));
  element('countdown').hidden = left === 0;
  element('countdown').textContent = `Kept for you for ${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}

async function enter() {
  entering = true;
  element('enter').disabled = true;
  try {
    const answer = await call('POST', `/v1/events/${event}/admission`);
    if (answer.status === 200 || answer.status === 201) {
      clearTimeout(pollTimer);
      clearTimeout(heartbeatTimer);
      // In the fragment, which is sent to no server and written in no log.
      location.assign(`${answer.body.checkout_url}#token=${answer.body.admission_token}`);
      return;
    }
    if (answer.status === 409) {
      element('detail').textContent = answer.body.detail;
      setTimeout(enter, Math.max(1, answer.retryAfter) * 1_000);
      return;
    }
    entering = false;
    again(0);
  } catch {
    element('connection').hidden = false;
    setTimeout(enter, retryMs());
    return;
  }
  element('enter').disabled = false;
}

async function comeBack() {
  element('back').disabled = true;
  place = null;
  await poll();
  element('back').disabled = false;
}

function heartbeat() {
  if (place) call('POST', `${queue}/heartbeat`).catch(() => {});
  scheduleHeartbeat();
}

function scheduleHeartbeat() {
  clearTimeout(heartbeatTimer);
  heartbeatTimer = setTimeout(heartbeat, place ? place.heartbeat_after_ms : 30_000);
}

element('enter').addEventListener('click', enter);
element('back').addEventListener('click', comeBack);
// A hidden tab's timers are slowed down to one a minute; on coming back it catches up at once.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState !== 'visible' || entering) return;
  heartbeat();
  // Back, and the turn was missed: that is said by joining, which calls him again.
  if (place && place.status === 'missed') comeBack();
  else again(0);
});
// Out of the back-forward cache after a visit to the checkout.
addEventListener('pageshow', (shown) => {
  if (!shown.persisted) return;
  entering = false;
  element('enter').disabled = false;
  again(0);
});

setInterval(tickCountdown, 1_000);
scheduleHeartbeat();
poll();
