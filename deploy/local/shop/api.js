// Calls to the services and to the shop's own server, and the server's clock.

const ATTEMPTS = 5;
const PAUSE_MS_MAX = 8000;

// What the server's clock is ahead of this page's own count, at most. Every answer says its date, to the
// second; the smallest bound is kept, so that a countdown rather ends too early than too late.
let aheadMs = Infinity;

export const config = (await send("GET", "/config.json")).body;

/** Milliseconds since 1970 by the server's clock: the phone's own may be wrong by hours. */
export function serverNow() {
  return Number.isFinite(aheadMs) ? performance.now() + aheadMs : Date.now();
}

// A sleeping phone stops the page's own count.
addEventListener("visibilitychange", () => {
  if (!document.hidden) aheadMs = Infinity;
});

/** Somebody said no, or nobody answered: then `status` is 0. */
export class Refused extends Error {
  constructor({ status, code, detail, retryAfterMs }) {
    super(detail);
    Object.assign(this, { status, code, retryAfterMs });
  }

  /** Whether the same request may well be answered otherwise in a moment. */
  get passes() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** One request, whatever is answered; throws only when nothing is. */
export async function send(method, url, { bearer, key, body } = {}) {
  const headers = {};
  if (bearer) headers.authorization = `Bearer ${bearer}`;
  if (key) headers["idempotency-key"] = key;
  if (body !== undefined) headers["content-type"] = "application/json";
  const ours = url.startsWith("/");
  if (ours && method + url !== "GET/config.json") headers["x-shop-guard"] = config.guard;
  const sent = performance.now();
  const options = { method, headers, cache: "no-store", credentials: ours ? "same-origin" : "omit" };
  const response = await fetch(url, { ...options, body: body === undefined ? undefined : JSON.stringify(body) });
  const date = Date.parse(response.headers.get("date"));
  if (Number.isFinite(date)) aheadMs = Math.min(aheadMs, date + 1000 - sent);
  const text = await response.text();
  return {
    status: response.status,
    text,
    body: parsed(text),
    replayed: response.headers.get("idempotent-replayed") === "true",
    retryAfterMs: Number(response.headers.get("retry-after") ?? 0) * 1000,
  };
}

/** The body of a good answer; throws what went wrong otherwise. */
export async function call(method, url, options) {
  let answer;
  try {
    answer = await send(method, url, options);
  } catch {
    throw new Refused({ status: 0, code: "no_answer", detail: "No answer." });
  }
  if (answer.status < 400) return answer.body;
  const { code, detail, title } = answer.body ?? {};
  throw new Refused({ ...answer, code, detail: detail ?? title ?? `Status ${answer.status}.` });
}

/**
 * The same until it is decided: a request that changes something is sent again with the same key, so that a lost
 * answer is found again and nothing is done twice. `waiting` is told why it takes longer.
 */
export async function insist(method, url, options, waiting) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(method, url, options);
    } catch (error) {
      if (!error.passes || attempt === ATTEMPTS) throw error;
      waiting(error);
      await pause(Math.max(error.retryAfterMs ?? 0, Math.min(PAUSE_MS_MAX, 500 * 2 ** attempt)));
    }
  }
}

export function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
