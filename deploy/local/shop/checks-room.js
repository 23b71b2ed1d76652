// The waiting room: a place that stays, and never too many; and both services after a crash.

import { pause } from "./api.js";

const LOOK_SECONDS = 4;
const RATE_SECONDS = 11;

export const ROOM = [
  {
    id: "same_number",
    title: "Same person, same number",
    claim: "A closed tab, a second tab and a lost answer keep the number; another person gets another.",
    async run(kit) {
      const { event } = await kit.event();
      const joinId = crypto.randomUUID();
      const first = await kit.joins(event, { body: { join_id: joinId } });
      kit.tell(`The number is ${first.number}.`);
      const lost = await kit.joins(event, { body: { join_id: joinId } });
      kit.holds(`Joined again because the answer was lost: ${lost.number}`, lost.number === first.number);
      const back = await kit.joins(event, { bearer: first.ticket });
      kit.holds(`Back after closing the tab: ${back.number} (${back.status})`, back.number === first.number && back.status === 200);
      const tabs = await Promise.all([1, 2, 3].map(() => kit.joins(event, { bearer: first.ticket })));
      kit.holds("Three tabs at once: the same", tabs.every(({ number }) => number === first.number));
      const other = await kit.joins(event);
      kit.holds(`Somebody else: ${other.number}`, other.number > first.number);
      const token = await kit.until("to be let in", 30, () => kit.claims(event, first.ticket));
      kit.holds("The token asked for again is the same to the byte", token === (await kit.claims(event, first.ticket)));
    },
  },
  {
    id: "cap",
    title: "Sessions at once",
    claim: "With three places inside, ten people at the gate get three tokens, and the next one when one is done.",
    async run(kit) {
      const on = await kit.event({ max_active_sessions: 3 });
      const people = await kit.each(Array.from({ length: 10 }), () => kit.joins(on.event));
      const tokens = new Set();
      let most = 0;
      const tryAll = async () => {
        for (const token of await kit.each(people, ({ ticket }) => kit.claims(on.event, ticket))) {
          if (token) tokens.add(token);
        }
        most = Math.max(most, (await kit.counters(on)).room.active_sessions);
      };
      await kit.until("three people to be let in", 30, async () => {
        await tryAll();
        return tokens.size >= 3 ? true : undefined;
      });
      const end = performance.now() + LOOK_SECONDS * 1000;
      while (performance.now() < end) await tryAll();
      kit.holds(`Tokens after ${LOOK_SECONDS} more seconds at the gate: ${tokens.size}`, tokens.size === 3);
      kit.holds(`Most sessions at once, by the room’s own count: ${most}`, most <= 3);
      const [done] = tokens;
      const held = await kit.hold(done, on.sector);
      await kit.checkout("DELETE", `reservations/${held.id}`, { bearer: held.reservation_token });
      await kit.until("somebody to follow the one who is done", 30, async () => {
        await tryAll();
        return tokens.size > 3 ? true : undefined;
      });
      kit.holds(`One was done, and ${tokens.size - 3} followed`, tokens.size === 4 && most <= 3);
    },
  },
  {
    id: "rate",
    title: "Admission rate",
    claim: "At 20 a minute a crowd gets a token every three seconds and no more.",
    async run(kit) {
      const on = await kit.event({ admission_rate_per_minute: 20 });
      const people = await kit.each(Array.from({ length: 12 }), () => kit.joins(on.event));
      const tokens = new Set();
      const begun = performance.now();
      let last = begun;
      while (performance.now() < begun + RATE_SECONDS * 1000) {
        for (const token of await kit.each(people, ({ ticket }) => kit.claims(on.event, ticket))) {
          if (token && !tokens.has(token)) last = performance.now();
          if (token) tokens.add(token);
        }
        await pause(200);
      }
      const seconds = (last - begun) / 1000;
      const most = Math.floor((seconds * 20) / 60) + 1;
      kit.holds(`${tokens.size} tokens in ${seconds.toFixed(1)} s; the rate allows ${most}`, tokens.size <= most);
      kit.holds("People are let in at all", tokens.size >= 2);
      const { room } = await kit.counters(on);
      kit.holds(`The room’s own count: ${room.tokens_total}`, room.tokens_total === tokens.size);
    },
  },
  {
    id: "restart_checkout",
    title: "The checkout is killed",
    claim: "What was acknowledged is there after kill -9, and a retry gets the first answer.",
    needsRestart: true,
    async run(kit) {
      const on = await kit.places(10);
      const [token, key] = [await kit.person(on.event), crypto.randomUUID()];
      const held = await kit.hold(token, on.sector, 2, key);
      const { took_ms: took } = await kit.ours("POST", "/lab/restart", { what: "checkout" });
      kit.tell(`Killed with -9 and ready again after ${(took / 1000).toFixed(1)} s.`);
      const found = kit.answers("The reservation", await kit.look(held), 200);
      kit.holds("Still held, to the same time", found.body?.state === "held" && found.body.expires_at === held.expires_at);
      const again = kit.answers("The same request again", await kit.reserve(token, on.sector, 2, key), 200);
      kit.holds("The same reservation", again.replayed && again.body?.id === held.id);
      await kit.pay(held);
      await kit.paymentBecomes(held, "paid");
      await kit.stockIs(on, { held: 0, confirmed: 2 });
    },
  },
  {
    id: "restart_redis",
    title: "Redis is killed",
    claim: "Numbers, tokens and holds are kept, and the sale goes on.",
    needsRestart: true,
    async run(kit) {
      const on = await kit.places(10);
      const waiting = await kit.joins(on.event);
      const token = await kit.until("to be let in", 30, () => kit.claims(on.event, waiting.ticket));
      const held = await kit.hold(token, on.sector);
      const { took_ms: took } = await kit.ours("POST", "/lab/restart", { what: "redis" });
      kit.tell(`Killed with -9 and ready again after ${(took / 1000).toFixed(1)} s.`);
      kit.answers("Another place, right away", await kit.reserve(token, on.sector), 201);
      kit.answers("The reservation", await kit.look(held), 200);
      const back = await kit.until("the waiting room to answer", 30, async () => {
        const answer = await kit.room("POST", `${on.event}/queue`, { bearer: waiting.ticket });
        return answer.status === 200 ? answer.body : undefined;
      });
      kit.holds(`The number is still ${back.number}`, back.number === waiting.number);
      const same = await kit.until("the token", 30, () => kit.claims(on.event, waiting.ticket));
      kit.holds("The token is the same to the byte", same === token);
      await kit.stockIs(on, { held: 2 });
    },
  },
];
