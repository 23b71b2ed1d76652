// The load: started and stopped here, made by the shop's server.

import { call } from "./api.js";

const LOOK_MS = 500;

const $ = (id) => document.getElementById(id);
const number = new Intl.NumberFormat();
let timer = 0;

const ms = (value) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

function state({ phase, detail, order, figures }) {
  switch (phase) {
    case "letting_in":
      return `The waiting room lets people in: ${detail.let_in} of ${order.people} …`;
    case "running":
      return `Running: ${figures.elapsed_seconds.toFixed(0)} of ${order.seconds} s …`;
    case "failed":
      return `It broke off: ${detail.reason}`;
    case "done": {
      const verdict = detail.verdict.consistent ? "the checkout’s counters and rows agree" : "THE COUNTERS DO NOT ADD UP";
      return `${detail.stopped ? "Stopped" : "Done"}: ${verdict}, ${number.format(detail.verdict.sale.sectors[0].held)} places held.`;
    }
    default:
      return "";
  }
}

function show(load) {
  const { phase, detail, order, figures } = load;
  const under = phase === "letting_in" || phase === "running";
  $("load").dataset.phase = phase;
  $("load-start").disabled = under;
  $("load-stop").hidden = !under;
  $("load-progress").hidden = !under;
  $("load-progress").value = phase === "letting_in" ? detail.let_in / order.people : figures.elapsed_seconds / (order?.seconds ?? 1);
  const text = state(load);
  if ($("load-state").textContent !== text) $("load-state").textContent = text;
  $("load-figures").hidden = figures.elapsed_seconds === 0;
  $("load-count").textContent = number.format(figures.reservations);
  $("load-rate").textContent = number.format(Math.round(figures.per_second));
  for (const name of ["p50", "p95", "p99", "max"]) $(`load-${name}`).textContent = ms(figures[`${name}_ms`]);
  $("load-outcomes").textContent = Object.entries(figures.outcomes)
    .map(([outcome, count]) => `${number.format(count)} × ${outcome}`)
    .join(" · ");
  chart(figures.seconds);
  return under;
}

// Reservations in each second.
function chart(seconds) {
  const most = Math.max(1, ...seconds);
  const bars = seconds.map((count) => {
    const bar = document.createElement("span");
    bar.style.blockSize = `${Math.round((100 * count) / most)}%`;
    return bar;
  });
  $("load-chart").replaceChildren(...bars);
  $("load-chart").setAttribute("aria-label", `Reservations in each second: ${seconds.join(", ")}`);
}

async function look() {
  clearTimeout(timer);
  try {
    if (show(await call("GET", "/load"))) timer = setTimeout(look, LOOK_MS);
  } catch (error) {
    $("load-state").textContent = error.message;
    timer = setTimeout(look, 4 * LOOK_MS);
  }
}

$("load-form").addEventListener("submit", async (submitted) => {
  submitted.preventDefault();
  const order = Object.fromEntries([...new FormData($("load-form"))].map(([name, value]) => [name, Number(value)]));
  try {
    await call("POST", "/load", { body: order });
  } catch (error) {
    $("load-state").textContent = error.message;
    return;
  }
  await look();
});
$("load-stop").addEventListener("click", async () => {
  await call("DELETE", "/load").catch(() => {});
  await look();
});
look();
