// The demo shop. Whom the waiting room lets in arrives with `#token=…`; with it the page reserves and pays at the
// checkout, directly from the browser.

import { call, config, insist, serverNow } from "./api.js";
import "./panel.js";
import { describe, refreshSectors, rows } from "./sectors.js";
import { claims, isUnderWay, once, sessionIsOver, sessionMs, store, stored, token } from "./session.js";
import { clock, money, pattern } from "./ticket.js";
import { standing, waitingWords, words } from "./words.js";

const POLL_MS = 2000;
const POLL_MS_PAYING = 700;
// A provider that takes longer is said to.
const SLOW_MS = 3000;
const LAST_MINUTE_MS = 60_000;

const $ = (id) => document.getElementById(id);
const event = claims?.event ?? config.event;
let reservation = stored("reservation");
let busy = false;
let payingSince = 0;
let shown = "";
let warned = false;

// --- what one can do -----------------------------------------------------------------------------

function reservationUrl(more = "") {
  return `${config.checkout_url}/v1/reservations/${encodeURIComponent(reservation.id)}${more}`;
}

// The reservation's own token outlives the session that made it.
function owner() {
  return reservation.reservation_token ?? token;
}

// One thing at a time, and what went wrong is said.
async function attempt(action) {
  if (busy) return;
  busy = true;
  say("");
  render();
  try {
    await action();
    say("");
  } catch (error) {
    say(words(error));
    if (error.code === "invalid_token" || error.code === "not_admitted") sessionIsOver();
  } finally {
    busy = false;
    render();
  }
}

async function reserve(sectorId, quantity) {
  const body = { sector_id: sectorId, quantity };
  const url = `${config.checkout_url}/v1/reservations`;
  keep(await once("reserve", `${sectorId} ${quantity}`, url, body, token, waiting));
}

async function pay() {
  const method = new FormData($("pay")).get("method");
  payingSince = Date.now();
  const body = { provider: "sandbox", payment_method: method };
  keep(await once("pay", `${reservation.id} ${method}`, reservationUrl("/payment"), body, owner(), waiting));
}

async function extend() {
  try {
    keep(await once("extend", reservation.id, reservationUrl("/extend"), undefined, owner(), waiting));
  } finally {
    // Once, whatever became of it; also when it was done in another tab.
    if (!isUnderWay("extend")) keep({ extended: true });
  }
}

async function cancel() {
  keep(await insist("DELETE", reservationUrl(), { bearer: owner() }, waiting));
}

// --- what is known -------------------------------------------------------------------------------

function isPaying() {
  const under = ["payment_processing", "confirming_availability", "withdrawing", "refund_pending", "paid"];
  return under.includes(reservation?.payment?.state) && reservation.state !== "confirmed";
}

function isSettled() {
  if (!reservation || isPaying()) return reservation === null;
  return ["confirmed", "expired", "cancelled"].includes(reservation.state);
}

async function refresh() {
  if (isSettled()) return;
  const { id } = reservation;
  const answer = await call("GET", reservationUrl(), { bearer: owner() }).catch((error) => {
    // An order in line that was refused, or a reservation that nobody knows any more.
    if (error.passes) throw error;
    forget();
    say(words(error));
    render();
    return null;
  });
  // Overtaken by an action, whose answer is the newer one.
  if (answer && !busy && reservation?.id === id) keep(answer);
}

// Later answers need not repeat everything the first one said.
function keep(answer) {
  reservation = { ...reservation, ...answer };
  const { payment } = reservation;
  if (payment?.state === "recovered" && payment.reservation_id) {
    // The same places, bought under another name.
    const { reservation_id: id, reservation_token } = payment;
    reservation = { ...reservation, id, reservation_token, state: "confirmed", saved: true };
  }
  store("reservation", reservation);
  render();
}

function forget() {
  reservation = null;
  store("reservation", null);
}

async function sectors() {
  if (sessionMs() <= 0) return;
  await refreshSectors(event, (sector, quantity) => attempt(() => reserve(sector, quantity)));
}

// --- the page ------------------------------------------------------------------------------------

function waiting(error) {
  say(waitingWords(error));
}

function say(text) {
  if ($("message").textContent !== text) $("message").textContent = text;
}

function render() {
  const left = sessionMs();
  const inside = left > 0;
  $("session").hidden = !inside;
  $("session-left").textContent = clock(left);
  $("sectors").hidden = !inside || reservation !== null;
  $("outside").hidden = inside || reservation !== null;
  const waitingRoom = `${config.waiting_room_url}/events/${encodeURIComponent(event)}`;
  for (const link of document.querySelectorAll(".waiting-room")) link.href = waitingRoom;
  if (claims && !inside) {
    $("outside-title").textContent = "Your turn is over";
    $("outside-text").textContent = "It ends with its time, or when a purchase is done. The waiting room has a new place for you.";
  }
  for (const row of rows.values()) {
    row.button.disabled = busy || row.available < 1;
    row.form.hidden = row.available < 1;
  }
  $("reservation").hidden = reservation === null;
  if (reservation) renderReservation();
  moveFocus();
}

function renderReservation() {
  const { id, state, items = [], total, currency, expires_at: expires, payment, saved } = reservation;
  const left = Date.parse(expires) - serverNow();
  const running = state === "held" && left > 0;
  const payable = running && (!payment || payment.state === "payment_failed");
  const [title, text] = standing(
    state === "held" && !running && !payment ? { state: "expired" } : reservation,
    Date.now() - payingSince > SLOW_MS,
  );
  set("state", title);
  set("state-text", saved ? "Your time had run out, and the same places were taken again for you." : text);
  $("reservation").dataset.state = state ?? "";
  $("reservation").dataset.payment = payment?.state ?? "";
  set("items", items.map(describe).join(", "));
  set("total", total === undefined ? "" : money(total, currency));
  $("hold").hidden = !running;
  $("countdown").textContent = clock(left);
  const whole = Date.parse(expires) - Date.parse(reservation.created_at);
  $("countdown-bar").value = Math.max(0, Math.min(1, left / whole));
  lastMinute(running ? left : Infinity);
  $("pay").hidden = !payable;
  $("cancel").hidden = !(running || state === "pending");
  $("extend").hidden = !running || reservation.extended === true || isPaying();
  for (const name of ["pay-now", "extend", "cancel"]) $(name).disabled = busy || state === "pending";
  set("pay-now", payment?.state === "payment_failed" ? "Try again" : "Pay");
  $("again").hidden = !(isSettled() || (state === "held" && !running && !isPaying()));
  $("ticket").hidden = state !== "confirmed";
  if (state === "confirmed") renderTicket(id, items);
}

function renderTicket(id, items) {
  if ($("ticket").dataset.id === id) return;
  $("ticket").dataset.id = id;
  set("ticket-event", document.title.split(" · ")[0]);
  set("ticket-items", items.map(describe).join(", "));
  set("ticket-id", id);
  $("ticket-code").replaceChildren(pattern(id));
}

// Said once, politely: the clock itself is not read out.
function lastMinute(left) {
  if (left > LAST_MINUTE_MS) warned = false;
  else if (!warned) {
    warned = true;
    say("Less than a minute left to pay.");
  }
}

// Where something new has come, the keyboard and the screen reader follow.
function moveFocus() {
  const now = reservation === null ? "sectors" : reservation.state;
  if (shown && shown !== now) {
    const heading = $(reservation === null ? ($("sectors").hidden ? "outside-title" : "sectors-title") : "state");
    heading.focus({ preventScroll: true });
    scrollTo({ top: 0 });
  }
  shown = now;
}

function set(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

async function nameEvent() {
  const status = await call("GET", `${config.waiting_room_url}/v1/events/${encodeURIComponent(event)}/status`);
  document.title = `${status.name} · Demo shop`;
  set("event", status.name);
}

// --- what happens when ---------------------------------------------------------------------------

async function poll() {
  if (!document.hidden && !busy) {
    // Quiet on failure, but for the connection: the next turn asks again, and an action tells its own failure.
    const looks = await Promise.allSettled([sectors(), refresh()]);
    $("connection").hidden = !looks.some((look) => look.reason?.status === 0);
    render();
  }
  setTimeout(poll, isPaying() || reservation?.state === "pending" ? POLL_MS_PAYING : POLL_MS);
}

$("pay").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  attempt(pay);
});
$("extend").addEventListener("click", () => attempt(extend));
$("cancel").addEventListener("click", () => attempt(cancel));
$("again").addEventListener("click", () => {
  forget();
  say("");
  render();
});
addEventListener("hashchange", () => {
  if (location.hash.includes("token=")) location.reload();
});
setInterval(render, 500);
render();
nameEvent().catch(() => {});
poll();
