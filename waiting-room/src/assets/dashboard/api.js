// The ops listener's calls, with the session of whoever has signed in.

/** What the service answers when it does not do what it was asked for. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function call(method, path, body) {
  // No page from elsewhere can send this header: it shows that it is this page that changes something.
  const headers = { 'X-Stanchion-Dashboard': '1' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Refused(0, 'This node does not answer.');
  }
  const text = await answer.text();
  let said = null;
  try { said = text ? JSON.parse(text) : null; } catch { /* not JSON: the status says enough */ }
  if (!answer.ok) throw new Refused(answer.status, said?.detail ?? `The answer was ${answer.status}.`);
  return said;
}

export const get = (path) => call('GET', path);
export const post = (path, body) => call('POST', path, body);
export const patch = (path, body) => call('PATCH', path, body);

export const room = (event) => `/v1/admin/events/${encodeURIComponent(event)}`;

/** Follows an event's figures until the page is left. */
export function follow(event, figures, trouble) {
  const stream = new EventSource(`${room(event)}/metrics/stream`);
  stream.addEventListener('metrics', (message) => figures(JSON.parse(message.data)));
  stream.addEventListener('error', () => {
    trouble();
    // A refused stream does not come back by itself; one that was cut does.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => follow(event, figures, trouble), 2000);
  });
  return stream;
}
