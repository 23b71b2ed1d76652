// What this tab remembers: who was let in, and what is under way. It survives a reload.

import { serverNow } from "./api.js";

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

/** The key of something that one wants: the same until it is decided, also over a reload. */
export function keyFor(what, wanted) {
  const known = stored(`key ${what}`);
  if (known?.wanted === wanted) return known.key;
  const key = crypto.randomUUID();
  store(`key ${what}`, { wanted, key });
  return key;
}

/** It is decided: the same again is something new. */
export function decided(what) {
  store(`key ${what}`, null);
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
