// Payments: once, truthfully, and never lost.

export const PAYMENT = [
  {
    id: "declined",
    title: "Declined, and tried again",
    claim: "A declined card takes nothing and keeps the places; the next one pays.",
    async run(kit) {
      const on = await kit.places(10);
      const held = await kit.hold(await kit.person(on.event), on.sector);
      await kit.pay(held, "pm_declined");
      const declined = await kit.paymentBecomes(held, "payment_failed");
      kit.holds(`Declined, with the reason: ${declined.failure_code}`, declined.failure_code === "card_declined");
      kit.holds("The places are still held", (await kit.look(held)).body.state === "held");
      await kit.pay(held);
      await kit.paymentBecomes(held, "paid");
      const charges = await kit.ledger(held);
      const taken = charges.filter(({ state }) => state === "succeeded").length;
      kit.holds(`The provider’s ledger: ${charges.length} charges, ${taken} taken`, charges.length === 2 && taken === 1);
      await kit.stockIs(on, { held: 0, confirmed: 1 });
    },
  },
  {
    id: "unknown_payment",
    title: "The provider takes the money and never answers",
    claim: "That is not a failure: it is asked, nothing is charged twice, and the places are sold.",
    async run(kit) {
      const on = await kit.places(10);
      const held = await kit.hold(await kit.person(on.event), on.sector);
      await kit.switches({ timeout_after_success: 1, webhooks: false });
      const key = crypto.randomUUID();
      const first = await kit.pay(held, "pm_good", key);
      const early = first.body?.payment?.state;
      kit.holds(`Told at first: ${first.status} ${early}`, early === "payment_processing" || early === "paid");
      kit.answers("Another card meanwhile", await kit.pay(held, "pm_other"), 409, "invalid_transition");
      await kit.paymentBecomes(held, "paid");
      kit.answers("The same request again", await kit.pay(held, "pm_good", key), 200);
      const charges = await kit.ledger(held);
      kit.holds(`The provider’s ledger: ${charges.length} charge`, charges.length === 1 && charges[0].state === "succeeded");
      await kit.stockIs(on, { held: 0, confirmed: 1 });
    },
  },
  {
    id: "paid_once",
    title: "Paid for twice at once",
    claim: "Five clicks on Pay and three copies of every webhook are one charge.",
    async run(kit) {
      const on = await kit.places(10);
      const held = await kit.hold(await kit.person(on.event), on.sector);
      await kit.switches({ duplicate_webhooks: 2 });
      const answers = await Promise.all(Array.from({ length: 5 }, () => kit.pay(held)));
      const taken = answers.filter(({ status }) => status < 300).length;
      kit.holds(`Of five clicks with keys of their own ${taken} were told how the payment stands`, taken === 5);
      await kit.paymentBecomes(held, "paid");
      const charges = await kit.ledger(held);
      kit.holds(`The provider’s ledger: ${charges.length} charge`, charges.length === 1);
      await kit.stockIs(on, { held: 0, confirmed: 1 });
    },
  },
  {
    id: "late_recovered",
    title: "Paid late, places still there",
    claim: "Money that comes after the hold has ended buys the same places again.",
    run: async (kit) => late(kit, false),
  },
  {
    id: "late_refunded",
    title: "Paid late, places gone",
    claim: "Money that comes for places that somebody else has goes back.",
    run: async (kit) => late(kit, true),
  },
];

async function late(kit, gone) {
  const on = await kit.places(1, { hold_ttl_seconds: 4 });
  const [slow, quick] = await kit.crowd(on.event, 2);
  const held = await kit.hold(slow, on.sector);
  await kit.switches({ processing: 1 });
  const paid = await kit.pay(held);
  kit.holds(`Told at first: ${paid.body?.payment?.state}`, paid.body?.payment?.state === "payment_processing");
  await kit.paymentBecomes(held, "confirming_availability");
  kit.holds("Told after the hold has ended: confirming_availability", true);
  if (gone) {
    const theirs = await kit.until("somebody else to get the place", 20, async () => {
      const answer = await kit.reserve(quick, on.sector);
      return answer.status === 201 ? answer.body : undefined;
    });
    await kit.pay(theirs);
    await kit.paymentBecomes(theirs, "paid");
    kit.holds("Somebody else has bought the place", true);
  }
  await kit.ours("POST", "/provider/complete", { reservation_id: held.id, state: "succeeded" });
  const payment = await kit.paymentBecomes(held, "recovered", "refunded");
  kit.holds(`The money has come: ${payment.state}`, payment.state === (gone ? "refunded" : "recovered"));
  if (!gone) {
    const again = { id: payment.reservation_id, reservation_token: payment.reservation_token };
    const { body } = await kit.look(again);
    kit.holds(`The other reservation is ${body.state}`, body.state === "confirmed");
  } else {
    const back = (await kit.ledger(held)).filter(({ kind, state }) => kind === "refund" && state === "succeeded");
    kit.holds(`The provider’s ledger: ${back.length} refund`, back.length === 1);
  }
  await kit.stockIs(on, { confirmed: 1, held: 0 });
}
