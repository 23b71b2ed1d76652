// What is shown at the door.

const SVG = "http://www.w3.org/2000/svg";
const COLUMNS = 16;
const ROWS = 8;

/** A pattern that is the reservation's id: 128 bits, one for each cell. For eyes, not for scanners. */
export function pattern(id) {
  const hex = id.replaceAll("-", "");
  const bits = [...hex].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join("");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${COLUMNS} ${ROWS}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Pattern of your reservation’s number");
  for (const [at, bit] of [...bits].entries()) {
    if (bit === "0") continue;
    const cell = document.createElementNS(SVG, "rect");
    const where = { x: at % COLUMNS, y: Math.floor(at / COLUMNS), width: 0.92, height: 0.92, rx: 0.2 };
    for (const [name, value] of Object.entries(where)) cell.setAttribute(name, value);
    svg.append(cell);
  }
  return svg;
}

/** Amounts are in the currency's smallest unit: cents for EUR, whole yen for JPY. */
export function money(amount, currency) {
  const format = new Intl.NumberFormat(undefined, { style: "currency", currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}

/** Minutes and seconds. */
export function clock(ms) {
  const seconds = Math.max(0, Math.ceil((Number.isFinite(ms) ? ms : 0) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
