// What is shown: one view a state. Whatever changes goes through set() and show(), so that nothing moves that
// stays the same, and only changes of state and coarse steps are read out.

const PLACE = { keep: true, leave: true };
const VIEWS = {
  loading: {},
  welcome: { action: 'join' },
  scheduled: {},
  pre_queue: { ...PLACE, number: true, tell: true },
  waiting: { ...PLACE, number: true, ahead: true, tell: true },
  paused: { ...PLACE, number: true, ahead: true, tell: true },
  ready: { ...PLACE, action: 'enter' },
  passthrough: { action: 'enter' },
  admitted: { action: 'enter' },
  missed: { ...PLACE, number: true, action: 'back' },
  over: { action: 'join', again: true, shop: true },
  left: { action: 'join', again: true, shop: true },
  sold_out: { shop: true },
  closed: { shop: true },
  draining: { shop: true },
  off: { shop: true },
  full: { shop: true },
  busy: {},
  unavailable: {},
  invite: { action: 'join', code: true },
  sign_in: { shop: true },
};
const REASONS = ['checkout_busy', 'checkout_full', 'all_in_baskets'];
const STEPS = [1, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000];
const shown = { state: data.state, step: Infinity, headline: element('headline').textContent };

function set(id, content) {
  if (element(id).textContent !== content) element(id).textContent = content;
}

function show(id, visible) {
  element(id).hidden = !visible;
}

function announce(words) {
  set('announce', words);
}

function render(state, place) {
  const view = VIEWS[state];
  const held = document.activeElement;
  const isNext = state === 'waiting' && place.users_ahead === 0;
  shown.headline = text(isNext ? 'next_title' : `${state}_title`);
  set('headline', shown.headline);
  set('detail', text(`${state}_text`));
  renderFigures(view, state, place);
  show('form', view.action);
  show('code', view.code);
  for (const id of ['join', 'enter', 'back']) show(id, view.action === id);
  set('join', text(view.again ? 'join_again' : 'join'));
  show('keep', view.keep && !bearer);
  show('leave', view.leave);
  show('shop', view.shop && data.return_to);
  show('tell', view.tell && ('Notification' in window || 'AudioContext' in window));
  renderRule();
  element('room').dataset.state = state;
  if (state !== shown.state) {
    shown.state = state;
    shown.step = Infinity;
    element('leave').open = false;
    show('notice', false);
    announce(`${shown.headline}. ${text(`${state}_text`)}`);
  }
  // Who had his hands on something that has gone finds himself at the headline, and not nowhere.
  if (held && held !== document.body && !held.offsetParent) element('headline').focus();
}

function renderFigures(view, state, place) {
  show('figures', view.number);
  show('number', view.number);
  show('ahead', view.ahead);
  show('wait', state === 'waiting');
  show('progress', view.ahead);
  show('reason', false);
  if (!view.number) return;
  set('number-text', figure(place.number));
  if (!view.ahead) return;
  set('ahead-count', figure(place.users_ahead));
  element('progress').value = progress(place);
  const step = STEPS.find((step) => place.users_ahead <= step);
  if (step < shown.step && shown.step !== Infinity) announce(`${text('ahead')}: ${figure(place.users_ahead)}`);
  shown.step = step;
  if (state !== 'waiting') return;
  set('wait-text', waitText(place.estimated_wait_seconds));
  const reason = reasonText(place);
  show('reason', reason);
  if (reason) set('reason', reason);
}

// From where this person began, on this device, to the front.
function progress({ number, users_ahead: ahead }) {
  const began = Math.max(Number(memory.get(`began ${number}`)), ahead);
  memory.set(`began ${number}`, began);
  return 1 - ahead / (began + 1);
}

// The latest moment that was promised. When even the earliest is now a minute later, that is said, and why.
const promise = { until: Infinity, rose: 0 };

function reasonText({ estimated_wait_seconds: wait, reason }) {
  const now = performance.now();
  if (wait) {
    if (now + wait.min * 1_000 > promise.until + 60_000) promise.rose = now;
    if (promise.until === Infinity || promise.rose === now) promise.until = now + wait.max * 1_000;
  }
  const rose = promise.rose > 0 && now - promise.rose < 120_000;
  const why = REASONS.includes(reason) ? text(`reason_${reason}`) : rose && text('reason_slower');
  return [rose && text('rose'), why].filter(Boolean).join(' ');
}

function renderRule() {
  const { status, queueing_method: method, opens_at: opens } = data.status;
  const isDrawn = method === 'random' && opens;
  show('rule', method === 'random' || method === 'fifo');
  const isBefore = status === 'scheduled' || status === 'pre_queue';
  const rule = !isDrawn ? 'rule_fifo' : isBefore ? 'rule_random_before' : 'rule_random';
  set('rule-text', text(rule, { time: opens && moment(Date.parse(opens)) }));
  show('draw', isDrawn);
  if (isDrawn) set('draw-text', text(isBefore ? 'draw_committed' : 'draw_check'));
}

// The whole command, so that it has only to be copied.
function renderDraw({ commitment, seed, n, draw_beacon_value: beacon }, number) {
  const told = beacon ? ` --beacon '${beacon.replaceAll("'", "'\\''")}'` : '';
  const command = `waiting-room verify-draw --seed ${seed} --commitment ${commitment} --n ${n}${told} --number ${number}`;
  set('draw-command', seed ? command : commitment);
}

function renderMessage() {
  const message = data.status.message || '';
  const isNew = element('message-text').textContent !== message;
  set('message-text', message);
  show('message', message);
  if (isNew && message) announce(`${text('message')}: ${message}`);
}

function renderCountdown(label, seconds) {
  show('countdown', label);
  document.title = titleText(label && seconds > 0 && clockText(seconds));
  if (!label) return;
  set('countdown-label', label);
  set('countdown-figure', seconds > 0 ? clockText(seconds) : '…');
}

function titleText(countdown) {
  const ahead = element('ahead').hidden ? '' : element('ahead-count').textContent;
  return [countdown || ahead, shown.headline].filter(Boolean).join(' · ') + ` – ${data.status.name}`;
}
