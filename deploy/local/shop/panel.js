// The sandbox provider's switches. They go through the shop's own server, which has the provider's key.

import { call, insist } from "./api.js";
import { money } from "./ticket.js";
import { words } from "./words.js";

const LOOK_MS = 1000;

// What each is for; a switch that is not named here is shown by its own name.
const LABELS = {
  latency_ms: "Milliseconds before anything is done",
  unavailable: "Orders refused with 503, nothing done",
  timeout_after_success: "Orders done and never answered",
  broken_answers: "Orders done and answered with 500",
  declines: "Charges declined",
  processing: "Charges that stay under way",
  refund_failures: "Refunds refused",
  look_up_failures: "Questions answered with 503",
  webhooks: "Send webhooks",
  duplicate_webhooks: "Times each webhook is repeated",
  webhook_delay_ms: "Milliseconds before a webhook",
  webhook_before_answer: "Webhook before the answer",
};

const PRESETS = {
  "Decline the next": { declines: 1 },
  "Never answer the next": { timeout_after_success: 1 },
  "Keep the next under way": { processing: 1 },
  "Be down for three": { unavailable: 3 },
  "Be slow": { latency_ms: 3000 },
  "Repeat webhooks": { duplicate_webhooks: 2 },
  "No webhooks": { webhooks: false },
};

const STATES = { processing: "under way", succeeded: "done", declined: "declined", voided: "withdrawn" };

const $ = (id) => document.getElementById(id);
let timer = 0;

function say(text) {
  $("panel-message").textContent = text;
}

async function change(switches) {
  try {
    await insist("PATCH", "/provider/switches", { body: switches }, () => {});
    say("");
  } catch (error) {
    say(error.code === "invalid_request" || error.status === 502 ? error.message : words(error));
  }
  await look();
}

// As it behaves when nothing is switched.
function reset() {
  const all = [...$("switches").elements].map(({ name, type }) => [name, type === "checkbox" ? name === "webhooks" : 0]);
  return change(Object.fromEntries(all));
}

function field(name, value) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.name = name;
  if (typeof value === "boolean") {
    input.type = "checkbox";
    input.className = "toggle";
  } else {
    Object.assign(input, { type: "number", min: 0, max: 60_000, inputMode: "numeric" });
  }
  input.addEventListener("change", () => {
    if (!input.reportValidity()) return;
    change({ [name]: input.type === "checkbox" ? input.checked : Number(input.value) });
  });
  const text = document.createElement("span");
  text.textContent = LABELS[name] ?? name;
  label.append(text, input);
  $("switches").append(label);
  return input;
}

function showSwitches(switches) {
  for (const [name, value] of Object.entries(switches)) {
    const input = $("switches").elements[name] ?? field(name, value);
    input.closest("label").classList.toggle("on", name === "webhooks" ? !value : Boolean(value));
    if (document.activeElement === input && input.type === "number") continue;
    if (input.type === "checkbox") input.checked = value;
    else input.value = value;
  }
}

function showLedger(operations) {
  const now = JSON.stringify(operations);
  if ($("ledger").dataset.shown === now) return;
  $("ledger").dataset.shown = now;
  $("ledger").replaceChildren(...operations.map(entry));
}

function entry({ kind, state, amount, currency, orders, failure_code: code, metadata }) {
  const item = document.createElement("li");
  item.dataset.state = state;
  const what = document.createElement("span");
  const price = currency ? ` ${money(amount, currency)}` : "";
  what.textContent = `${kind}${price}: ${STATES[state] ?? state}${code && state === "declined" ? ` (${code})` : ""}`;
  const more = document.createElement("span");
  more.className = "soft small";
  more.textContent = `asked ${orders === 1 ? "once" : `${orders} times`}, reservation …${String(metadata?.reservation ?? "?").slice(-6)}`;
  item.append(what, more);
  if (state === "processing") item.append(finish(metadata, "succeeded", "Let it succeed"), finish(metadata, "declined", "Decline it"));
  return item;
}

function finish(metadata, state, text) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.textContent = text;
  button.addEventListener("click", async () => {
    const body = { reservation_id: metadata.reservation, state };
    await call("POST", "/provider/complete", { body }).catch((error) => say(error.message));
    await look();
  });
  return button;
}

async function look() {
  try {
    showSwitches(await call("GET", "/provider/switches"));
    showLedger((await call("GET", "/provider/ledger")).operations);
  } catch (error) {
    say(error.status === 502 ? "The provider does not answer." : words(error));
  }
}

// Only while somebody looks at it.
async function keepLooking() {
  clearTimeout(timer);
  if (!$("panel").open) return;
  if (!document.hidden) await look();
  timer = setTimeout(keepLooking, LOOK_MS);
}

for (const [text, switches] of [...Object.entries(PRESETS), ["Behave", null]]) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.textContent = text;
  button.addEventListener("click", () => (switches ? change(switches) : reset()));
  $("presets").append(button);
}
$("switches").addEventListener("submit", (submitted) => submitted.preventDefault());
$("panel").addEventListener("toggle", keepLooking);
