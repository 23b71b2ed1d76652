// The list of checks, run one after the other or each by itself.

import { Kit, Stop } from "./check-kit.js";
import { CHECKS } from "./checks.js";

const WORDS = { waiting: "not run", running: "running …", passed: "passed", failed: "failed" };

const $ = (id) => document.getElementById(id);
const rows = new Map();
let busy = false;
let stopping = false;

function row(check) {
  const item = $("check").content.firstElementChild.cloneNode(true);
  const part = (css) => item.querySelector(css);
  item.dataset.check = check.id;
  part(".title").textContent = check.title;
  part(".claim").textContent = check.claim;
  part("button").setAttribute("aria-label", `Run: ${check.title}`);
  part("button").addEventListener("click", () => alone([check]));
  $("checks").append(item);
  rows.set(check.id, { item, part });
  state(check, "waiting");
}

function state(check, name) {
  const { item, part } = rows.get(check.id);
  item.dataset.state = name;
  part(".badge").textContent = WORDS[name];
}

function line(check, text, good) {
  const item = document.createElement("li");
  item.className = good === undefined ? "told" : good ? "good" : "bad";
  const mark = document.createElement("span");
  mark.className = "mark";
  mark.textContent = good === undefined ? "·" : good ? "✓" : "✗";
  mark.setAttribute("aria-label", good === undefined ? "note" : good ? "as it should be" : "wrong");
  mark.setAttribute("role", "img");
  const words = document.createElement("span");
  words.textContent = text;
  item.append(mark, words);
  rows.get(check.id).part(".lines").append(item);
}

async function run(check) {
  const { part } = rows.get(check.id);
  part(".lines").replaceChildren();
  part("details").hidden = true;
  part(".took").textContent = "";
  state(check, "running");
  const begun = performance.now();
  const kit = new Kit((text, good) => line(check, text, good));
  try {
    await check.run(kit);
  } catch (error) {
    // What the check could not go on without has been told already, unless it was waited for.
    const known = error instanceof Stop && [...part(".lines").children].some((one) => one.textContent.includes(error.message));
    if (!known) kit.holds(error instanceof Stop ? error.message : `It broke off: ${error.message}`, false);
    kit.failed = true;
  }
  await kit.over();
  part(".took").textContent = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  const statuses = [...kit.statuses].sort().map(([status, count]) => `${count} × ${status}`);
  part("summary").textContent = `${kit.requests} requests: ${statuses.join(", ")}`;
  part("details").hidden = false;
  part("details").open = kit.failed;
  state(check, kit.failed ? "failed" : "passed");
}

// The provider's switches are shared, and so is the machine: one at a time.
async function alone(checks) {
  if (busy) return;
  busy = true;
  stopping = false;
  buttons();
  $("stop").hidden = checks.length < 2;
  $("progress").max = checks.length;
  let done = 0;
  for (const check of checks) {
    if (stopping) break;
    $("progress").value = done;
    $("summary").textContent = `Running ${done + 1} of ${checks.length}: ${check.title} …`;
    await run(check);
    done += 1;
  }
  $("progress").value = done;
  const failed = checks.slice(0, done).filter((check) => rows.get(check.id).item.dataset.state === "failed");
  $("summary").dataset.state = failed.length ? "failed" : "passed";
  $("summary").textContent = failed.length
    ? `${failed.length} of ${done} failed: ${failed.map(({ title }) => title).join(", ")}.`
    : `${done} of ${checks.length} passed.`;
  $("stop").hidden = true;
  busy = false;
  buttons();
}

function buttons() {
  for (const button of document.querySelectorAll("#run-all, .check button")) button.disabled = busy;
}

CHECKS.forEach(row);
$("run-all").addEventListener("click", () => alone(CHECKS));
$("stop").addEventListener("click", () => {
  stopping = true;
});
$("summary").textContent = `${CHECKS.length} checks.`;
