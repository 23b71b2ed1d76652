// What is on sale.

import { call, config } from "./api.js";
import { store, stored } from "./session.js";
import { money } from "./ticket.js";

const QUANTITY_MAX = 4;

const $ = (id) => document.getElementById(id);

/** Each sector's name, button and what is left, by its id. */
export const rows = new Map();

/** Shows what is left; `hold(sector, quantity)` is called when somebody wants some of it. */
export async function refreshSectors(event, hold) {
  const { sectors } = await call("GET", `${config.checkout_url}/v1/events/${encodeURIComponent(event)}/sectors`);
  for (const sector of sectors) {
    const row = rows.get(sector.sector_id) ?? addSector(sector, hold);
    row.available = sector.available;
    const left = sector.available > 0 ? `${sector.available} of ${sector.capacity} left` : "Sold out";
    // Only when it changes: a screen reader and a person choosing are left alone.
    if (row.left.textContent !== left) row.left.textContent = left;
  }
  $("sold-out").hidden = sectors.some((sector) => sector.available > 0);
  store("names", Object.fromEntries([...rows].map(([id, row]) => [id, row.name])));
}

/** A line of a reservation, for people. */
export function describe({ sector_id: id, quantity }) {
  const name = rows.get(id)?.name ?? stored("names")?.[id] ?? "place";
  return `${quantity} × ${name}`;
}

function addSector(sector, hold) {
  const item = $("sector").content.firstElementChild.cloneNode(true);
  const part = (name) => item.querySelector(name);
  item.dataset.sectorId = sector.sector_id;
  part(".name").textContent = sector.name;
  part(".price").textContent = money(sector.price, sector.currency);
  for (let n = 1; n <= Math.min(QUANTITY_MAX, sector.capacity); n++) part("select").add(new Option(n, n));
  part("button").setAttribute("aria-label", `Hold ${sector.name}`);
  part("select").setAttribute("aria-label", `How many, ${sector.name}`);
  part("form").addEventListener("submit", (submitted) => {
    submitted.preventDefault();
    hold(sector.sector_id, Number(part("select").value));
  });
  $("sector-list").append(item);
  const row = { name: sector.name, left: part(".left"), button: part("button"), form: part("form"), available: 0 };
  rows.set(sector.sector_id, row);
  return row;
}
