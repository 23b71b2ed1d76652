// The waiting page's words and figures. What stands here is in the page: texts, the room as it was then,
// where the person may be sent back to.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const texts = data.texts;
const element = (id) => document.getElementById(id);

// Texts name what is filled in: "Opening: {time}".
const text = (key, values = {}) => texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);

const figure = (n) => new Intl.NumberFormat(texts.locale).format(n);

const moment = (time) => new Intl.DateTimeFormat(texts.locale, { dateStyle: 'full', timeStyle: 'short' }).format(time);

// "about 4–6 minutes", in the language's own words where the browser has them.
function waitText(wait) {
  if (!wait) return text('wait_unknown');
  if (wait.max < 60) return text('wait_short');
  const [unit, size] = wait.min < 5_400 ? ['minute', 60] : ['hour', 3_600];
  const from = Math.max(1, Math.round(wait.min / size));
  const to = Math.max(from, Math.ceil(wait.max / size));
  return text('wait_about', { duration: range(from, to, unit) });
}

function range(from, to, unit) {
  try {
    const format = new Intl.NumberFormat(texts.locale, { style: 'unit', unit, unitDisplay: 'long' });
    return from === to ? format.format(from) : format.formatRange(from, to);
  } catch {
    return text(`${unit}s`, { n: from === to ? figure(from) : `${figure(from)}–${figure(to)}` });
  }
}

// 75 → "1:15", 90061 → "1 day 1:01:01".
function clockText(seconds) {
  const two = (n) => String(n).padStart(2, '0');
  const [minutes, hours] = [Math.floor(seconds / 60) % 60, Math.floor(seconds / 3_600) % 24];
  const days = Math.floor(seconds / 86_400);
  const clock = hours || days ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  return days ? `${range(days, days, 'day')} ${clock}` : clock;
}

// The store's clock, as far as its answers tell. They are only ever late, so the one that is furthest ahead is
// the most exact. The phone's own clock has no part in it.
const clock = {
  ahead: -Infinity,
  see(at) { this.ahead = Math.max(this.ahead, Date.parse(at) - performance.now()); },
  now() { return performance.now() + this.ahead; },
};
clock.see(data.status.at);
