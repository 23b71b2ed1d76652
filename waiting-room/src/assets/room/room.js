// What the page does: it joins, asks for its place as often as it is told to, says that it is there, and goes on to
// the checkout. Whatever fails is tried again; no place is given up but by the button.

// Sent again with the same id when the answer was lost, a join is still one join.
const joinId = crypto.randomUUID ? crypto.randomUUID() : undefined;
const JOINABLE = ['pre_queue', 'open', 'paused'];
const ENDED = ['over', 'left', 'invite', 'sign_in'];

let state = 'loading';
let place = null;
let accessCode = brought.get('access_code') || undefined;
let until = 0;
let failures = 0;
let pollTimer = 0;
let heartbeatTimer = 0;
let asking = false;
let entering = false;
// With the room off there is nothing to decide. Who has come back here is left to press the button.
let straightOn = performance.getEntriesByType('navigation').every(({ type }) => type === 'navigate');
const tabs = otherTabs();

const again = (ms) => {
  clearTimeout(pollTimer);
  pollTimer = setTimeout(poll, ms);
};

async function poll() {
  if (asking) return;
  asking = true;
  try {
    const next = place ? await ask() : await enterQueue();
    asking = false;
    if (next !== null) again(next);
  } catch {
    asking = false;
    again(lost());
  }
}

// The milliseconds until the next try.
function lost() {
  failures += 1;
  show('connection', true);
  set('connection', text('connection_lost'));
  if (failures === 2) announce(text('connection_lost'));
  return backoffMs(failures);
}

function found(isStale) {
  if (failures > 1) announce(text('connected'));
  failures = 0;
  show('connection', isStale);
  if (isStale) set('connection', text('stale'));
}

function change(next) {
  const before = state;
  state = next;
  until = performance.now() + ((place && place.seconds_left) || 0) * 1_000;
  render(state, place);
  countDown();
  if (state === 'ready' && before !== 'ready' && before !== 'loading') tellOfTurn();
}

async function look() {
  const { status, body } = await call('GET', `/v1/events/${data.event}/status`);
  if (status !== 200) return;
  data.status = body;
  clock.see(body.at);
  renderMessage();
}

async function enterQueue() {
  // Who is kept out looks at what everybody may see, and asks again only when it says so.
  if (!['loading', 'busy', 'full', 'unavailable'].includes(state)) {
    await look();
    if (!JOINABLE.includes(data.status.status) || data.status.queueing_method === 'reject') return keptOut();
  }
  return join();
}

async function join() {
  const sent = { join_id: joinId, access_code: accessCode, user_token: brought.get('user_token') || undefined };
  const answer = await oneAtATime(() => call('POST', queue, sent));
  if (answer.status === 200 || answer.status === 201) return take(answer.body);
  const { code } = answer.body;
  if (answer.status >= 500 && code !== 'queue_full') {
    change('unavailable');
    failures += 1;
    return Math.max(answer.retryMs, backoffMs(failures));
  }
  found(false);
  if (code === 'access_code') {
    change('invite');
    if (accessCode) complain('code_wrong');
    return null;
  }
  if (answer.status === 401) return change('sign_in'), null;
  if (code === 'queue_full' || code === 'rate_limited') {
    change(code === 'queue_full' ? 'full' : 'busy');
    return answer.retryMs + Math.random() * 5_000;
  }
  await look();
  return keptOut();
}

function complain(key) {
  set('notice', text(key));
  show('notice', true);
  announce(text(key));
}

// Nobody may join now: says why, and looks again when that may have changed.
function keptOut() {
  const { status, queueing_method: method } = data.status;
  found(false);
  change(method === 'reject' ? 'off' : ['scheduled', 'draining', 'sold_out'].includes(status) ? status : 'closed');
  const opens = Date.parse(data.status.pre_queue_at || data.status.opens_at) - clock.now();
  const soon = status === 'scheduled' && opens < 15_000 ? Math.max(0, opens) : 15_000;
  return soon + Math.random() * 2_000;
}

async function ask() {
  const answer = await call('GET', queue);
  const { status } = answer;
  if (status === 200) return take(answer.body);
  // Another tab of the same person has asked a moment ago.
  if (status === 429) return answer.retryMs + Math.random() * 1_000;
  if (status === 401 && !bearer) {
    // There was a place, and no cookie of it has come back: from here on the ticket goes along by itself.
    bearer = place.ticket;
    return 0;
  }
  if (status === 401 || status === 410 || status === 404) return end('over');
  return Math.max(answer.retryMs, lost());
}

function take(next) {
  const version = place && place.room_version;
  place = next;
  found(place.stale);
  memory.set('left', null);
  if (bearer) {
    bearer = place.ticket;
    memory.set('ticket', bearer);
    show('cookies', true);
  }
  const isThrough = data.status.queueing_method === 'passthrough' && place.status === 'ready';
  change(isThrough ? 'passthrough' : place.status);
  if (version !== null && version !== place.room_version) look().then(renderRule).catch(() => {});
  if (isThrough && straightOn) {
    straightOn = false;
    enter();
  }
  return place.poll_after_ms;
}

function end(how) {
  place = null;
  bearer = null;
  memory.set('ticket', null);
  show('cookies', false);
  clearTimeout(pollTimer);
  change(how);
  return null;
}

function countDown() {
  const { opens_at: opens, pre_queue_at: joins } = data.status;
  const left = (time) => Math.ceil((time - clock.now()) / 1_000);
  let [label, seconds] = [null, 0];
  if (state === 'ready' || state === 'admitted') {
    [label, seconds] = [text('time_left'), Math.max(0, Math.ceil((until - performance.now()) / 1_000))];
    if (state === 'ready' && [60, 30, 10].includes(seconds)) announce(`${text('time_left')}: ${clockText(seconds)}`);
  } else if (state === 'pre_queue' && opens) {
    seconds = left(Date.parse(opens));
    label = text(seconds > 0 ? 'opens_in' : 'opening');
  } else if (state === 'scheduled' && (joins || opens)) {
    [label, seconds] = [text('joining_opens'), left(Date.parse(joins || opens))];
  }
  show('opens', opens && (state === 'pre_queue' || state === 'scheduled'));
  if (opens) set('opens', text('opens_at', { time: moment(Date.parse(opens)) }));
  renderCountdown(label, seconds);
}

async function enter() {
  entering = true;
  element('enter').setAttribute('aria-disabled', 'true');
  const answer = await call('POST', `/v1/events/${data.event}/admission`).catch(() => null);
  if (!entering) return;
  if (answer && (answer.status === 200 || answer.status === 201)) {
    clearTimeout(pollTimer);
    clearTimeout(heartbeatTimer);
    // In the fragment, which is sent to no server and written in no log.
    const fragment = new URLSearchParams({ token: answer.body.admission_token });
    if (data.return_to) fragment.set('return_to', data.return_to);
    location.assign(`${answer.body.checkout_url}#${fragment}`);
    return;
  }
  if (!answer || answer.status >= 500) {
    setTimeout(enter, lost());
    return;
  }
  // Called, and the gate is full for a moment.
  if (answer.body.code === 'not_ready' && answer.retryMs) {
    if (element('notice').hidden) complain('entering');
    setTimeout(enter, answer.retryMs);
    return;
  }
  stopEntering();
  again(0);
}

function stopEntering() {
  entering = false;
  element('enter').removeAttribute('aria-disabled');
  show('notice', false);
}

async function leave() {
  const answer = await call('DELETE', queue).catch(() => null);
  if (!answer || answer.status >= 500) return void lost();
  tabs?.postMessage('left');
  hasLeft();
}

function hasLeft() {
  stopEntering();
  memory.set('left', '1');
  end('left');
}

function heartbeat() {
  if (place) call('POST', `${queue}/heartbeat`, undefined, true).catch(() => {});
  clearTimeout(heartbeatTimer);
  heartbeatTimer = setTimeout(heartbeat, place ? place.heartbeat_after_ms : 30_000);
}

function press(submitted) {
  submitted.preventDefault();
  if (!element('enter').hidden) {
    if (!entering) enter();
    return;
  }
  accessCode = element('access-code').value.trim() || accessCode;
  place = null;
  state = 'loading';
  again(0);
}

// A hidden tab's timers are slowed down to one a minute; on coming back it catches up at once.
function seen() {
  heartbeat();
  if (document.visibilityState !== 'visible' || entering || ENDED.includes(state)) return;
  // Back, and the turn was missed: that is said by joining, which calls him again.
  if (state === 'missed') place = null, state = 'loading';
  again(0);
}

function start() {
  // From here on the page looks after itself: a server that reads this sends no Refresh header.
  document.cookie = `stanchion-script=1; Path=${location.pathname}; Max-Age=2592000; SameSite=Lax${location.protocol === 'https:' ? '; Secure' : ''}`;
  if (element('plain')) show('plain', false);
  element('form').addEventListener('submit', press);
  element('leave-form').addEventListener('submit', (submitted) => { submitted.preventDefault(); leave(); });
  element('notify').addEventListener('click', wantToBeTold);
  element('rule').addEventListener('toggle', async () => {
    if (!element('rule').open || element('draw').hidden) return;
    const answer = await call('GET', `/v1/events/${data.event}/draw`).catch(() => null);
    if (answer && answer.status === 200) renderDraw(answer.body, place ? place.number : 'N');
  });
  document.addEventListener('visibilitychange', seen);
  if (tabs) tabs.onmessage = () => place && hasLeft();
  addEventListener('online', () => again(0));
  // Out of the back-forward cache after a visit to the checkout.
  addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    stopEntering();
    again(0);
  });
  setInterval(countDown, 1_000);
  heartbeat();
  if (memory.get('left')) change('left');
  else poll();
}

// A page that is only being prepared in advance has nobody in front of it.
if (document.prerendering) document.addEventListener('prerenderingchange', start, { once: true });
else start();
