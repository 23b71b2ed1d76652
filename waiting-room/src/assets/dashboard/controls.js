// What an operator can do. Nothing is done before a dialog has said what it will do.

import { get, patch, post, room } from './api.js';
import { make, number, one } from './words.js';

/** What a room can be told: the button, in which states it makes sense, and what it does. */
const WORDS = [
  ['pause', 'Pause', ['scheduled', 'pre_queue', 'open', 'draining', 'sold_out'],
    'Nobody is called or let in until it is resumed. Everybody keeps his place, and sessions go on.'],
  ['resume', 'Resume', ['paused'], 'People are called and let in again, at the configured rate.'],
  ['open', 'Open', ['draining', 'closed'], 'People may join again, and are called and let in at the configured rate.'],
  ['drain', 'Drain', ['scheduled', 'pre_queue', 'open', 'paused', 'sold_out'],
    'Nobody new may join. Whoever is in the queue is served.'],
  ['close', 'Close', ['scheduled', 'pre_queue', 'open', 'paused', 'draining', 'sold_out'],
    'The room is over: nobody may join and nobody is let in. Everybody who waits is told so.'],
];

export class Controls {
  constructor(event, mayChange, changed) {
    Object.assign(this, { event, mayChange, changed, room: null });
    const buttons = WORDS.map(([word, name, , effect]) => {
      const button = make('button', { type: 'button', id: `do-${word}`, className: word === 'close' ? 'heavy' : 'quiet', disabled: true }, name);
      button.addEventListener('click', () => ask(`${name} “${this.room.name}”?`, effect, name, word === 'close',
        () => this.done(post(`${room(event)}/${word}`))));
      return button;
    });
    one('words').replaceChildren(...buttons);
    one('read-only').hidden = mayChange;
    this.setting('set-rate', 'rate', (value) => this.rate(value));
    this.setting('set-cap', 'cap', (value) => this.cap(value));
    this.setting('set-message', 'message', (value) => this.message(value.trim()));
  }

  setting(form, field, change) {
    one(form).addEventListener('submit', (submitted) => {
      submitted.preventDefault();
      change(one(field).value);
    });
    for (const part of one(form).elements) part.disabled = !this.mayChange;
  }

  /** The settings as they are now: fields that nobody is changing follow them. */
  async refresh() {
    const before = this.room;
    this.room = await get(room(this.event));
    const follow = (field, now, was) => {
      if (!before || one(field).value === was) one(field).value = now;
    };
    const text = (of, name) => String(of?.[name] ?? '');
    follow('rate', text(this.room, 'admission_rate_per_minute'), text(before, 'admission_rate_per_minute'));
    follow('cap', text(this.room, 'max_active_sessions'), text(before, 'max_active_sessions'));
    follow('message', text(this.room, 'message'), text(before, 'message'));
    return this.room;
  }

  show(status) {
    for (const [word, , states] of WORDS) one(`do-${word}`).disabled = !this.mayChange || !this.room || !states.includes(status);
  }

  rate(value) {
    const rate = Number(value);
    ask('Change the rate?', `From ${number(this.room.admission_rate_per_minute)} to ${number(rate)} people a minute, at once on every node.`,
      'Change', false, () => this.done(patch(`${room(this.event)}/rate`, { admission_rate_per_minute: rate })));
  }

  cap(value) {
    const cap = Number(value);
    const now = this.room.active_sessions;
    const over = cap < now ? `\n${number(now)} sessions are active: nobody is let in until they are fewer than ${number(cap)}.` : '';
    ask('Change the cap?', `From ${number(this.room.max_active_sessions)} to ${number(cap)} sessions at once.${over}`,
      'Change', false, () => this.done(patch(room(this.event), { max_active_sessions: cap })));
  }

  message(text) {
    const effect = text ? `Everybody on the waiting page sees:\n“${text}”` : 'The message is taken away from the waiting page.';
    ask('Change the message?', effect, 'Change', false, () => this.done(patch(room(this.event), { message: text || null })));
  }

  async done(change) {
    await change;
    await this.changed();
  }
}

/** Asks before something is done; a refusal is said where it was asked. */
function ask(title, text, yes, heavy, act) {
  const [dialog, button, problem] = [one('confirm'), one('confirm-yes'), one('confirm-problem')];
  one('confirm-title').textContent = title;
  one('confirm-text').textContent = text;
  problem.textContent = '';
  button.textContent = yes;
  button.className = heavy ? 'heavy' : '';
  button.disabled = false;
  button.onclick = async () => {
    button.disabled = true;
    try {
      await act();
      dialog.close();
    } catch (refused) {
      problem.textContent = refused.message;
      button.disabled = false;
    }
  };
  dialog.showModal();
  one('confirm-no').focus();
}
