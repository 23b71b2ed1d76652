// The demo shop. Whom the waiting room lets in arrives with `#token=…`; with it the page reserves at
// the checkout, directly. Only paying goes through the shop's own server, which holds the service
// token.

const POLL_MS = 2000;
const QUANTITY_MAX = 4;
const FINAL = new Set(["confirmed", "expired", "cancelled"]);
const STATES = {
  pending: "Your request is in the queue …",
  held: "These places are held for you.",
  confirmed: "Paid. Have a good time!",
  expired: "The time to pay has run out; the places were given back.",
  cancelled: "Cancelled; the places were given back.",
};

const $ = (id) => document.getElementById(id);
const config = await (await fetch("config.json")).json();
const token = takeToken();
const claims = readClaims(token);
const rows = new Map();
let reservation = stored("reservation");
let busy = false;

// --- the admission token -----------------------------------------------------------------------

// Out of the address bar at once, so that it is in no history, bookmark or screenshot.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
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

function sessionMs() {
  return claims ? claims.exp * 1000 - Date.now() : 0;
}

// --- talking to the checkout ---------------------------------------------------------------------

// Resolves with the answer's body; throws an error whose `status` is 0 when no answer came.
async function call(url, { bearer, ...options } = {}) {
  const headers = { ...options.headers };
  if (bearer) headers.authorization = `Bearer ${bearer}`;
  if (options.body) headers["content-type"] = "application/json";
  let response;
  try {
    response = await fetch(url, { ...options, headers, cache: "no-store" });
  } catch {
    throw Object.assign(new Error("No answer. Try again: nothing is reserved twice."), { status: 0 });
  }
  const body = await response.json().catch(() => null);
  if (response.ok) return body;
  const text = body?.detail ?? body?.title ?? `The shop answered ${response.status}.`;
  throw Object.assign(new Error(text), { status: response.status, code: body?.code });
}

function reservationUrl() {
  return `${config.checkout_url}/v1/reservations/${encodeURIComponent(reservation.id)}`;
}

// The reservation's own token outlives the session that made it.
function owner() {
  return reservation.reservation_token ?? token;
}

// One thing at a time, with the message of what went wrong.
async function attempt(action) {
  if (busy) return;
  busy = true;
  $("message").textContent = "";
  render();
  try {
    await action();
  } catch (error) {
    $("message").textContent = error.message;
  } finally {
    busy = false;
    render();
  }
}

// The key is kept until the request is decided: a second try after a lost answer is the same request.
async function reserve(sectorId, quantity) {
  const order = `${sectorId} ${quantity}`;
  let pending = stored("pending");
  if (pending?.order !== order) pending = { order, key: crypto.randomUUID() };
  store("pending", pending);
  try {
    const made = await call(`${config.checkout_url}/v1/reservations`, {
      method: "POST",
      bearer: token,
      headers: { "idempotency-key": pending.key },
      body: JSON.stringify({ sector_id: sectorId, quantity }),
    });
    store("pending", null);
    keep(made);
  } catch (error) {
    const undecided = error.status === 0 || error.status === 429 || error.status >= 500;
    if (!undecided) store("pending", null);
    throw error;
  }
}

async function pay() {
  const body = JSON.stringify({ reservation_id: reservation.id });
  keep(await call("pay", { method: "POST", body }));
}

async function cancel() {
  keep(await call(reservationUrl(), { method: "DELETE", bearer: owner() }));
  await refresh();
}

async function refresh() {
  if (isSettled()) return;
  const { id } = reservation;
  const answer = await call(reservationUrl(), { bearer: owner() });
  // Overtaken by an action, whose answer is the newer one.
  if (!isSettled() && reservation.id === id) keep(answer);
}

function isSettled() {
  return reservation === null || FINAL.has(reservation.state);
}

// Later answers need not repeat everything the first one said.
function keep(answer) {
  reservation = { ...reservation, ...answer };
  store("reservation", reservation);
}

// --- the page ------------------------------------------------------------------------------------

function render() {
  const inside = sessionMs() > 0;
  $("session").hidden = !inside;
  $("session-left").textContent = clock(sessionMs());
  $("sectors").hidden = !inside || reservation !== null;
  $("outside").hidden = inside || reservation !== null;
  $("waiting-room").href =
    `${config.waiting_room_url}/events/${encodeURIComponent(claims?.event ?? config.event)}`;
  if (claims && !inside) {
    $("outside-title").textContent = "Your session has ended";
    $("outside-text").textContent = "The waiting room has a new place for you.";
  }
  for (const row of rows.values()) row.button.disabled = busy || row.available < 1;
  renderReservation();
}

function renderReservation() {
  $("reservation").hidden = reservation === null;
  if (!reservation) return;
  const { state, items = [], total, currency, expires_at: expires } = reservation;
  const held = state === "held";
  const left = Date.parse(expires) - Date.now();
  $("state").textContent = STATES[state] ?? state?.replaceAll("_", " ") ?? "";
  $("state").dataset.state = state ?? "";
  $("items").textContent = items.map(describe).join(", ");
  $("total").textContent = total === undefined ? "" : money(total, currency);
  $("countdown").textContent = clock(left);
  $("expiry").hidden = !held;
  $("pay").hidden = $("cancel").hidden = !held;
  $("pay").disabled = busy || left <= 0;
  $("cancel").disabled = busy;
  $("again").hidden = !FINAL.has(state);
}

function describe({ sector_id: id, quantity }) {
  const name = rows.get(id)?.name ?? stored("names")?.[id] ?? "place";
  return `${quantity} × ${name}`;
}

async function refreshSectors() {
  if (sessionMs() <= 0) return;
  const event = encodeURIComponent(claims.event);
  const { sectors } = await call(`${config.checkout_url}/v1/events/${event}/sectors`);
  for (const sector of sectors) {
    const row = rows.get(sector.sector_id) ?? addSector(sector);
    row.available = sector.available;
    const left = sector.available > 0 ? `${sector.available} of ${sector.capacity} left` : "Sold out";
    // Only when it changes: a screen reader and a person choosing are left alone.
    if (row.left.textContent !== left) row.left.textContent = left;
  }
  store("names", Object.fromEntries([...rows].map(([id, row]) => [id, row.name])));
}

function addSector(sector) {
  const item = $("sector").content.firstElementChild.cloneNode(true);
  const part = (name) => item.querySelector(name);
  item.dataset.sectorId = sector.sector_id;
  part(".name").textContent = sector.name;
  part(".price").textContent = money(sector.price, sector.currency);
  for (let n = 1; n <= Math.min(QUANTITY_MAX, sector.capacity); n++) part("select").add(new Option(n, n));
  part("button").setAttribute("aria-label", `Reserve ${sector.name}`);
  part("form").addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(() => reserve(sector.sector_id, Number(part("select").value)));
  });
  $("sector-list").append(item);
  const row = { name: sector.name, left: part(".left"), button: part("button"), available: 0 };
  rows.set(sector.sector_id, row);
  return row;
}

// Amounts are in the currency's smallest unit: cents for EUR, whole yen for JPY.
function money(amount, currency) {
  const format = new Intl.NumberFormat(undefined, { style: "currency", currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}

function clock(ms) {
  const seconds = Math.max(0, Math.ceil((Number.isFinite(ms) ? ms : 0) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function store(key, value) {
  if (value === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, JSON.stringify(value));
}

function stored(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}

// --- what happens when ---------------------------------------------------------------------------

async function poll() {
  if (!document.hidden && !busy) {
    // Quiet on failure: the next turn asks again, and an action tells its own failure.
    await Promise.allSettled([refreshSectors(), refresh()]);
    render();
  }
  setTimeout(poll, POLL_MS);
}

$("pay").addEventListener("click", () => attempt(pay));
$("cancel").addEventListener("click", () => attempt(cancel));
$("again").addEventListener("click", () => {
  reservation = null;
  store("reservation", null);
  $("message").textContent = "";
  render();
});
addEventListener("hashchange", () => {
  if (location.hash.includes("token=")) location.reload();
});
setInterval(render, 1000);
render();
poll();
