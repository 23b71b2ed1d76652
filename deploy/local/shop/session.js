// What this tab remembers: who was let in, and what is under way. It survives a reload.

import { insist, serverNow } from "./api.js";

export const token = takeToken();
export const claims = readClaims(token);

// Out of the address bar at once, so that it is in no history, bookmark or screenshot.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    if (given !== sessionStorage.getItem("token")) sessionStorage.removeItem("over");
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem("token");
}

// Unverified, for display and the event's name: the checkout is who verifies.
function readClaims(jwt) {
  try {
    const payload = jwt.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
    const bytes = Uint8Array.from(atob(payload), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

/** How long one may still reserve. */
export function sessionMs() {
  return claims && !stored("over") ? claims.exp * 1000 - serverNow() : 0;
}

/** The checkout takes this token no more. */
export function sessionIsOver() {
  store("over", true);
}

/**
 * Asks for something until it is decided. Its key is kept until then, also over a reload: a second try after a lost
 * answer is the same request. `what` is what is done, `wanted` tells one wish from another.
 */
export async function once(what, wanted, url, body, bearer, waiting) {
  const known = stored(`key ${what}`);
  const key = known?.wanted === wanted ? known.key : crypto.randomUUID();
  store(`key ${what}`, { wanted, key });
  try {
    const answer = await insist("POST", url, { bearer, key, body }, waiting);
    store(`key ${what}`, null);
    return answer;
  } catch (error) {
    // Refused: the same again is something new.
    if (!error.passes) store(`key ${what}`, null);
    throw error;
  }
}

/** Whether it was asked for and not decided. */
export function isUnderWay(what) {
  return stored(`key ${what}`) !== null;
}

export function store(name, value) {
  if (value === null) sessionStorage.removeItem(name);
  else sessionStorage.setItem(name, JSON.stringify(value));
}

export function stored(name) {
  try {
    return JSON.parse(sessionStorage.getItem(name));
  } catch {
    return null;
  }
}
