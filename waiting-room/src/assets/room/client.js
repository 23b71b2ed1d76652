// What the page asks the waiting room. The ticket is in an HttpOnly cookie; only where cookies are blocked it is
// held here, and sent along.

const queue = `/v1/events/${data.event}/queue`;
const TIMEOUT_MS = 15_000;
const RETRY_MS_MAX = 30_000;

// Storage may be blocked as cookies are.
const memory = {
  get(key) { try { return sessionStorage.getItem(`${data.event} ${key}`); } catch { return null; } },
  set(key, value) {
    try {
      if (value === null) sessionStorage.removeItem(`${data.event} ${key}`);
      else sessionStorage.setItem(`${data.event} ${key}`, value);
    } catch { /* then it lasts as long as the page */ }
  },
};

let bearer = memory.get('ticket');

async function call(method, path, sent, keepalive = false) {
  const headers = {};
  if (bearer) headers.Authorization = `Bearer ${bearer}`;
  if (sent) headers['Content-Type'] = 'application/json';
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(path, {
      method, headers, keepalive, body: sent && JSON.stringify(sent), signal: stop.signal,
      cache: 'no-cache', credentials: 'same-origin',
    });
    // A proxy in between may answer with a page of its own.
    const body = response.status === 204 ? {} : await response.json().catch(() => ({}));
    return { status: response.status, body, retryMs: Number(response.headers.get('retry-after') || 0) * 1_000 };
  } finally {
    clearTimeout(timer);
  }
}

// Two tabs that join at once would be two people: the second waits, and finds the first one's cookie.
async function oneAtATime(work) {
  if (!navigator.locks) return work();
  try {
    return await navigator.locks.request(`join ${data.event}`, work);
  } catch (error) {
    // Locks are blocked together with cookies.
    if (error.name !== 'SecurityError') throw error;
    return work();
  }
}

// The other tabs of the same person, who have the same place.
function otherTabs() {
  try {
    return new BroadcastChannel(`queue ${data.event}`);
  } catch {
    return null;
  }
}

// Doubling waits with a random part, so that everybody does not come back at once.
function backoffMs(failures) {
  const ceiling = Math.min(RETRY_MS_MAX, 1_000 * 2 ** Math.min(failures, 5));
  return ceiling / 2 + Math.random() * ceiling / 2;
}

// What the shop has put behind the #: never sent to a server by itself, and taken out of the address bar.
const brought = new URLSearchParams(location.hash.slice(1));
if (brought.has('user_token') || brought.has('access_code')) {
  history.replaceState(null, '', location.pathname + location.search);
}
