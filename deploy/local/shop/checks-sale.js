// The sale: nothing twice, nothing too many, nothing for strangers.

import { config, pause, serverNow } from "./api.js";
import { endOf, forgeries } from "./forged.js";

const CROWD = 200;
// What a verifier may be lenient about the time by, and a second for the clocks.
const LEEWAY_MS = 6000;

export const SALE = [
  {
    id: "double_click",
    title: "Double click",
    claim: "The same request twice at the same moment is one reservation, answered to the byte.",
    async run(kit) {
      const on = await kit.places(10);
      const [token, key] = [await kit.person(on.event), crypto.randomUUID()];
      const answers = await Promise.all([kit.reserve(token, on.sector, 2, key), kit.reserve(token, on.sector, 2, key)]);
      const statuses = answers.map(({ status }) => status).sort();
      kit.holds(`Two answers: ${statuses.join(" and ")}`, statuses.join() === "200,201");
      kit.holds("They are the same to the byte", answers[0].text === answers[1].text);
      const third = kit.answers("Once more, later", await kit.reserve(token, on.sector, 2, key), 200);
      kit.holds("It is marked as a replay, and the same", third.replayed && third.text === answers[0].text);
      await kit.stockIs(on, { held: 2, available: 8 });
    },
  },
  {
    id: "other_body",
    title: "Same key, other body",
    claim: "A key that was used for one request is refused for another, and changes nothing.",
    async run(kit) {
      const on = await kit.places(10);
      const [token, key] = [await kit.person(on.event), crypto.randomUUID()];
      await kit.hold(token, on.sector, 1, key);
      kit.answers("Another quantity under it", await kit.reserve(token, on.sector, 2, key), 422, "idempotency_key_reused");
      const bare = { bearer: token, body: { sector_id: on.sector, quantity: 1 } };
      kit.answers("No key", await kit.checkout("POST", "reservations", bare), 400, "idempotency_key_missing");
      await kit.stockIs(on, { held: 1 });
    },
  },
  {
    id: "last_place",
    title: "The last place, fought over by 200",
    claim: "One of them gets it, and every one of the others is told so.",
    async run(kit) {
      const on = await kit.places(1);
      const tokens = await kit.crowd(on.event, CROWD);
      kit.holds(`${tokens.length} people were let in, each with a token`, new Set(tokens).size === CROWD);
      kit.tell("All of them ask at once; this browser has six connections for them.");
      const answers = await Promise.all(tokens.map((token) => kit.reserve(token, on.sector)));
      const count = (status, code) => answers.filter((one) => one.status === status && one.body?.code === code).length;
      kit.holds(`Got it: ${count(201)}`, count(201) === 1);
      kit.holds(`Told that it is sold out: ${count(409, "sold_out")}`, count(409, "sold_out") === CROWD - 1);
      await kit.stockIs(on, { available: 0, held: 1, confirmed: 0 });
    },
  },
  {
    id: "sold_out",
    title: "Sold out, and back again",
    claim: "What is gone is refused with 409; what is let go can be had by the next.",
    async run(kit) {
      const on = await kit.places(2);
      const [first, second] = await kit.crowd(on.event, 2);
      const held = await kit.hold(first, on.sector, 2);
      kit.answers("Another one", await kit.reserve(second, on.sector), 409, "sold_out");
      await shows(kit, on, 0);
      const owner = { bearer: held.reservation_token };
      kit.answers("Let go", await kit.checkout("DELETE", `reservations/${held.id}`, owner), 200);
      kit.answers("Let go again", await kit.checkout("DELETE", `reservations/${held.id}`, owner), 200);
      await shows(kit, on, 2);
      kit.answers("Another one now", await kit.reserve(second, on.sector), 201);
      await kit.stockIs(on, { available: 1, held: 1 });
    },
  },
  {
    id: "purchase_limit",
    title: "Purchase limit",
    claim: "Nobody holds more than one person may have, not by several requests at once either.",
    async run(kit) {
      const on = await kit.places(10, { max_per_user: 2 });
      const token = await kit.person(on.event);
      const answers = await Promise.all([1, 1, 1, 1].map((one) => kit.reserve(token, on.sector, one)));
      const got = answers.filter(({ status }) => status === 201).length;
      const refused = answers.filter(({ body }) => body?.code === "purchase_limit").length;
      kit.holds(`Of four at once ${got} were given and ${refused} refused`, got === 2 && refused === 2);
      await kit.stockIs(on, { held: 2 });
    },
  },
  {
    id: "hold_expiry",
    title: "A hold ends",
    claim: "When its time is over the places go back, once, and it cannot be paid for any more.",
    async run(kit) {
      const on = await kit.places(3, { hold_ttl_seconds: 2 });
      const held = await kit.hold(await kit.person(on.event), on.sector, 2);
      await kit.until("the hold to end", 20, async () => ((await kit.look(held)).body?.state === "expired" ? true : undefined));
      const late = Date.parse(held.expires_at) - serverNow();
      kit.holds(`Seen as expired ${(-late / 1000).toFixed(1)} s after its time`, late <= 0);
      kit.answers("Paying for it now", await kit.pay(held), 410, "hold_expired");
      await kit.until("the places to be back", 20, async () => {
        const { sale } = await kit.counters(on);
        return sale.sectors[0].available === 3 ? true : undefined;
      });
      await kit.stockIs(on, { available: 3, held: 0, confirmed: 0 });
    },
  },
  {
    id: "forged_token",
    title: "Forged tokens",
    claim: "Nothing but a valid admission to this very event reserves.",
    async run(kit) {
      const on = await kit.places(10);
      const brief = await kit.event({ session_duration_seconds: 1 });
      const [good, other, short] = [await kit.person(on.event), await kit.person(brief.event), await kit.person(brief.event)];
      for (const [what, token] of Object.entries(await forgeries(good))) {
        kit.answers(what, await kit.reserve(token, on.sector), 401, "invalid_token");
      }
      const foreign = await kit.person((await kit.places(10)).event);
      kit.answers("another event’s", await kit.reserve(foreign, on.sector), 404, "not_found");
      const held = await kit.hold(good, on.sector);
      kit.answers("a reservation’s own token", await kit.reserve(held.reservation_token, on.sector), 401, "invalid_token");
      await pause(Math.max(0, endOf(short) + LEEWAY_MS - serverNow()));
      for (const token of [other, short]) {
        kit.answers("one whose time is over", await kit.reserve(token, brief.sector), 401, "invalid_token");
      }
      await kit.stockIs(on, { held: 1 });
    },
  },
  {
    id: "rate_limit",
    title: "Limit per person",
    claim: "Who asks too often is told to wait, and nobody else is.",
    async run(kit) {
      const on = await kit.places(10);
      const [hasty, calm] = await kit.crowd(on.event, 2);
      const held = await kit.hold(hasty, on.sector);
      const answers = await Promise.all(Array.from({ length: 40 }, () => kit.look(held)));
      const refused = answers.filter(({ status }) => status === 429);
      if (refused.length === 0) kit.tell("Are the limits lifted here, by --bench?");
      kit.needs(`Of 40 at once ${refused.length} were refused with 429`, refused.length > 0);
      kit.holds("Each says when to come back", refused.every(({ retryAfterMs }) => retryAfterMs >= 1000));
      kit.answers("Somebody else meanwhile", await kit.reserve(calm, on.sector), 201);
      await pause(refused.at(-1).retryAfterMs);
      kit.answers("After the wait", await kit.look(held), 200);
    },
  },
  {
    id: "foreign_reservation",
    title: "Somebody else’s reservation",
    claim: "It cannot be seen, paid for or let go, and looks the same as one that is not there.",
    async run(kit) {
      const on = await kit.places(10);
      const [owner, stranger] = await kit.crowd(on.event, 2);
      const { id } = await kit.hold(owner, on.sector);
      const theirs = { id, reservation_token: stranger };
      const seen = kit.answers("Looking at it", await kit.look(theirs), 404, "not_found");
      const nothing = await kit.look({ id: crypto.randomUUID(), reservation_token: stranger });
      kit.holds("As one that is not there", seen.body.detail === nothing.body.detail && nothing.status === 404);
      kit.answers("Letting it go", await kit.checkout("DELETE", `reservations/${id}`, { bearer: stranger }), 404, "not_found");
      kit.answers("Paying for it", await kit.pay(theirs), 404, "not_found");
      const key = crypto.randomUUID();
      kit.answers("Extending it", await kit.checkout("POST", `reservations/${id}/extend`, { bearer: stranger, key }), 404, "not_found");
      await kit.stockIs(on, { held: 1 });
    },
  },
];

// What everybody is shown may be a second old.
function shows(kit, on, available) {
  const url = `${config.checkout_url}/v1/events/${on.event}/sectors`;
  return kit.until(`everybody to be shown ${available} left`, 10, async () => {
    const { body } = await kit.send("GET", url);
    return body.sectors[0].available === available ? kit.holds(`Everybody is shown ${available} left`, true) : undefined;
  });
}
