// Who changed what, newest first, in words.

import { get, room } from './api.js';
import { make, one, spoken, time } from './words.js';

const LAST = 50;

const fields = (text) => {
  try { return JSON.parse(text) ?? {}; } catch { return {}; }
};

const value = (of) => (of === undefined || of === null || of === '' ? 'nothing' : typeof of === 'object' ? JSON.stringify(of) : String(of));

/** Of a change of settings, what is another now. */
function difference(change) {
  const [before, after] = [fields(change.before), fields(change.after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return names.map((name) => `${spoken(name)}: ${value(before[name])} → ${value(after[name])}`).join('; ') || 'the same settings again';
}

function told(change) {
  if (change.what === 'create') return 'created the room';
  if (change.what === 'change') return difference(change);
  return `${spoken(change.what)}: ${value(change.before)} → ${value(change.after)}`;
}

function moment(ms) {
  const today = new Date(ms).toDateString() === new Date().toDateString();
  return today ? time(ms) : `${new Date(ms).toISOString().slice(0, 10)} ${time(ms)}`;
}

let newest = null;

export async function refreshAudit(event) {
  const { changes } = await get(`${room(event)}/audit?count=${LAST}`);
  if (changes[0]?.id === newest && newest) return;
  newest = changes[0]?.id ?? null;
  one('audit').replaceChildren(...changes.map((change) => make('li', {},
    make('time', { dateTime: new Date(change.at_ms).toISOString() }, moment(change.at_ms)),
    make('strong', {}, change.who), ' ', told(change))));
}
