// What the checks are made of: people who really wait and are let in, requests that are counted, and findings.

import { config, pause, send } from "./api.js";

// Requests that are prepared at once. (A browser keeps six connections to an address; the others wait in it.)
const AT_ONCE = 24;
const PROVIDER = "sandbox";

/** The check cannot go on. What was found so far says why. */
export class Stop extends Error {}

export class Kit {
  #found;
  #undo = [];
  requests = 0;
  statuses = new Map();
  failed = false;

  /** `found(text, good)` is called with each finding; `good` is undefined for what is only told. */
  constructor(found) {
    this.#found = found;
  }

  // --- findings ----------------------------------------------------------------------------------

  tell(text) {
    this.#found(text);
  }

  /** Something that must be so. */
  holds(text, good) {
    this.failed ||= !good;
    this.#found(text, Boolean(good));
    return Boolean(good);
  }

  /** The same, and without it there is no use in going on. */
  needs(text, good) {
    if (!this.holds(text, good)) throw new Stop(text);
  }

  /** An answer that must have this status, and this code if one is given. */
  answers(what, answer, status, code) {
    const said = [answer.status, answer.body?.code].filter(Boolean).join(" ");
    const wanted = answer.status === status && (code === undefined || answer.body?.code === code);
    this.holds(wanted ? `${what}: ${said}` : `${what}: ${said}, and not ${[status, code].filter(Boolean).join(" ")}`, wanted);
    return answer;
  }

  // --- requests ----------------------------------------------------------------------------------

  async send(method, url, options) {
    this.requests += 1;
    const answer = await send(method, url, options);
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    return answer;
  }

  room(method, path, options) {
    return this.send(method, `${config.waiting_room_url}/v1/events/${path}`, options);
  }

  checkout(method, path, options) {
    return this.send(method, `${config.checkout_url}/v1/${path}`, options);
  }

  // What the shop's own server does for us is not counted: it is not what is checked.
  async ours(method, path, body) {
    const answer = await send(method, path, { body });
    if (answer.status >= 400) throw new Stop(`${path}: ${answer.body?.detail ?? answer.status}`);
    return answer.body;
  }

  // --- preparing ---------------------------------------------------------------------------------

  /** A throw-away event with a room and a sale; closed at the end. */
  async event(room = {}, sale = {}) {
    const { event, sectors } = await this.ours("POST", "/lab/events", { room, sale });
    this.#undo.push(() => this.ours("DELETE", `/lab/events/${event}`));
    return { event, sector: sectors[0].sector_id, sectors };
  }

  /** One sector with so many places. */
  places(capacity, sale = {}) {
    return this.event({}, { ...sale, sectors: [{ name: "Standing", capacity, price: 1000 }] });
  }

  /** Somebody joins; gives the queue ticket and the number. */
  async joins(event, options) {
    const answer = await this.room("POST", `${event}/queue`, options);
    if (answer.status !== 201 && answer.status !== 200) {
      throw new Stop(`Joining: ${answer.status} ${answer.body?.detail ?? ""}`);
    }
    return { status: answer.status, ticket: answer.body.ticket, number: answer.body.number };
  }

  /** One attempt at the gate; gives the token, or nothing. */
  async claims(event, ticket) {
    const answer = await this.room("POST", `${event}/admission`, { bearer: ticket });
    return answer.status < 300 ? answer.body.admission_token : undefined;
  }

  /** Somebody joins, waits and is let in; gives the admission token. */
  async person(event) {
    const { ticket } = await this.joins(event);
    return this.until("the waiting room to let somebody in", 60, () => this.claims(event, ticket));
  }

  /** So many people, each with a token. */
  crowd(event, people) {
    return this.each(Array.from({ length: people }), () => this.person(event));
  }

  /** The same for each, several at once, results in order. */
  async each(list, act) {
    const results = [];
    const entries = list.entries();
    const worker = async () => {
      for (const [at, one] of entries) results[at] = await act(one, at);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return results;
  }

  // --- buying ------------------------------------------------------------------------------------

  reserve(token, sector, quantity = 1, key = crypto.randomUUID()) {
    return this.checkout("POST", "reservations", { bearer: token, key, body: { sector_id: sector, quantity } });
  }

  /** A hold that is needed to go on. */
  async hold(token, sector, quantity = 1, key = undefined) {
    const answer = await this.reserve(token, sector, quantity, key);
    this.needs(`A hold: ${answer.status} ${answer.body?.code ?? answer.body?.state}`, answer.status === 201);
    return answer.body;
  }

  look({ id, reservation_token: bearer }) {
    return this.checkout("GET", `reservations/${id}`, { bearer });
  }

  pay({ id, reservation_token: bearer }, method = "pm_good", key = crypto.randomUUID()) {
    const body = { provider: PROVIDER, payment_method: method };
    return this.checkout("POST", `reservations/${id}/payment`, { bearer, key, body });
  }

  /** Waits for a state of a reservation's payment. */
  paymentBecomes(reservation, ...states) {
    return this.until(`the payment to be ${states.join(" or ")}`, 45, async () => {
      const { payment } = (await this.look(reservation)).body ?? {};
      return states.includes(payment?.state) ? payment : undefined;
    });
  }

  /** What the provider has done for a reservation. */
  async ledger({ id }) {
    return (await this.ours("GET", `/provider/ledger?reservation=${encodeURIComponent(id)}`)).operations;
  }

  /** Flips the provider's switches until the check is over. */
  async switches(change) {
    const before = await this.ours("GET", "/provider/switches");
    const back = Object.fromEntries(Object.keys(change).map((name) => [name, before[name]]));
    this.#undo.push(() => this.ours("PATCH", "/provider/switches", back));
    await this.ours("PATCH", "/provider/switches", change);
  }

  // --- looking -----------------------------------------------------------------------------------

  /** Asks again until there is something; slowly enough for the limit per person. */
  async until(what, seconds, look) {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > end) throw new Stop(`Waited ${seconds} s for ${what}.`);
      await pause(400);
    }
  }

  /** The services' own counters, as an operator reads them. */
  counters({ event }) {
    return this.ours("GET", `/lab/events/${event}`);
  }

  /** Stock adds up, by the checkout's own word, and is as it should be: `available`, `held`, `confirmed`. */
  async stockIs(event, expected) {
    const { sale } = await this.counters(event);
    const [counters] = sale.sectors;
    const { available, held, confirmed } = counters;
    this.holds(`Counters and rows agree: ${available} left, ${held} held, ${confirmed} sold`, sale.consistent);
    for (const [name, count] of Object.entries(expected)) {
      if (counters[name] !== count) this.holds(`${name} is ${counters[name]} and not ${count}`, false);
    }
  }

  /** Puts everything back; what cannot be is told. */
  async over() {
    for (const undo of this.#undo.reverse()) {
      await undo().catch((error) => this.holds(`Cleaning up: ${error.message}`, false));
    }
  }
}
