// What is said for each code and state, in plain words.

const CODES = {
  no_answer: "There is no connection. Nothing is lost: try again, it counts as the same request.",
  idempotency_key_missing: "This page made a mistake: its request had no key. Reload the page.",
  invalid_request: "The shop did not understand this request. Reload the page and try again.",
  invalid_token: "Your turn is over. The waiting room has a new place for you.",
  not_admitted: "Your turn is over. The waiting room has a new place for you.",
  not_found: "This is not there any more, or it is somebody else’s.",
  sold_out: "There are not as many places left as you want. Try fewer, or another sector.",
  purchase_limit: "That would be more places than one person may have.",
  invalid_transition: "That is not possible any more.",
  hold_expired: "The time has run out, and the places were given back.",
  payload_too_large: "This page made a mistake: its request was too large. Reload the page.",
  unsupported_media_type: "This page made a mistake. Reload it.",
  idempotency_key_reused: "This page mixed up two requests. Nothing was done twice; try again.",
  invalid_quantity: "So many places cannot be had at once.",
  rate_limited: "That was very quick. Wait a moment and try again.",
  queue_full: "Very many people are buying right now. Wait a moment and try again.",
  internal: "Something went wrong at the shop. Try again: nothing is done twice.",
  unavailable: "The shop does not answer right now. Try again: nothing is done twice.",
  draining: "The shop is restarting. Try again in a moment.",
};

const FAILURES = {
  card_declined: "The card was declined.",
  declined: "The provider declined it.",
  voided: "It was withdrawn.",
};

/** For a refusal. */
export function words(error) {
  return CODES[error.code] ?? error.message;
}

/** While a request is sent again. */
export function waitingWords(error) {
  return error.status === 429
    ? "One moment: many requests. Asking again …"
    : "No answer yet. Asking again, with the same key …";
}

/** Headline and explanation for a reservation as it stands. */
export function standing({ state, payment }, slow) {
  const paying = payment?.state;
  if (paying && PAYMENTS[paying] && !(state === "confirmed" && paying === "paid")) {
    return PAYMENTS[paying](payment, slow, state);
  }
  return STATES[state] ?? [state?.replaceAll("_", " ") ?? "", ""];
}

const STATES = {
  pending: ["In line …", "Your request is in the queue of this sector. It is decided in a moment."],
  held: ["Held for you", "Nobody else can have these places while the clock runs."],
  confirmed: ["Paid. Have a good time!", "This is your ticket."],
  expired: ["The time has run out", "The places were given back, and nothing was taken."],
  cancelled: ["Let go", "The places were given back."],
};

const PAYMENTS = {
  payment_processing: (_, slow) => [
    "Payment under way …",
    slow
      ? "The provider has not answered yet. That is no failure: we keep asking, and nothing is charged twice."
      : "The provider is being asked.",
  ],
  action_required: () => ["One more step", "The provider wants something from you."],
  paid: () => ["Paid", "Your places are being confirmed."],
  payment_failed: ({ failure_code: code }, _, state) => [
    "The payment failed",
    `${FAILURES[code] ?? "It was not taken."} Nothing was charged.` +
      (state === "held" ? " Your places are still held: try again." : " The places were given back."),
  ],
  confirming_availability: () => [
    "The time has run out while you paid",
    "If the payment goes through, the same places are looked for again; if they are gone, you get your money back.",
  ],
  recovered: () => ["Paid late, and saved", "Your time had run out, and the same places were taken again for you."],
  withdrawing: () => ["Let go while you paid", "If the payment goes through all the same, you get your money back."],
  refund_pending: () => ["Your money goes back", "The places are gone. What you paid is on its way back to you."],
  refund_delayed: () => ["Your money is late", "The provider refuses to give it back for now; people see to it."],
  refunded: () => ["Your money went back", "The places were gone when the payment came. You have paid nothing."],
};
