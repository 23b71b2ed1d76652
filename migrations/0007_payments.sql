-- Payments as operations, and the webhooks that were taken.
SET LOCAL lock_timeout = '2s';

-- A charge or a refund: a row before anybody outside is asked, and for good. What the provider knows
-- it by is derived from payment_id, so that asking again cannot pay again.
CREATE TABLE payments (
    event_id        text NOT NULL,
    payment_id      uuid NOT NULL,
    reservation_id  uuid NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('charge', 'refund')),
    state           text NOT NULL DEFAULT 'created'
        CHECK (state IN ('created', 'submitted', 'unknown', 'succeeded', 'failed')),
    -- What a refund gives back.
    charge_id       uuid,
    -- Why it gives it back.
    reason          text,
    provider        text NOT NULL,
    -- What to charge, in the provider's words.
    method          text,
    -- In the currency's minor unit.
    amount          bigint NOT NULL CHECK (amount >= 0),
    currency        text NOT NULL,
    -- The provider's own name for it.
    reference       text,
    failure_code    text,
    -- What the customer must do at the provider before it can go on; only while it is under way.
    customer_action text,
    -- Money that was taken after the charge had been given up. It is always given back.
    surplus         boolean NOT NULL DEFAULT false,
    -- Which try this is: a refund that the provider has refused is tried again under another key.
    round           integer NOT NULL DEFAULT 0,
    -- How often it was looked after.
    attempts        integer NOT NULL DEFAULT 0,
    -- When somebody has to look after it; null when all is done.
    next_check_at   timestamptz,
    -- The reservation that the money bought, if it bought one.
    bought_id       uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    -- When the state was last changed.
    changed_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (event_id, payment_id),
    CHECK ((kind = 'refund') = (charge_id IS NOT NULL))
);

-- A reservation is paid for at most once, and while somebody pays nobody else does.
CREATE UNIQUE INDEX payments_one_charge ON payments (event_id, reservation_id)
    WHERE kind = 'charge' AND state <> 'failed' AND NOT surplus;
-- A charge is given back at most once.
CREATE UNIQUE INDEX payments_one_refund ON payments (event_id, charge_id) WHERE kind = 'refund';
CREATE INDEX payments_of_reservation ON payments (event_id, reservation_id);
-- The reconciler's.
CREATE INDEX payments_due ON payments (event_id, next_check_at) WHERE next_check_at IS NOT NULL;

-- A webhook is taken once, however often it is sent.
CREATE TABLE payment_webhooks (
    event_id          text NOT NULL,
    provider          text NOT NULL,
    provider_event_id text NOT NULL,
    received_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (event_id, provider, provider_event_id)
);

-- The purge's.
CREATE INDEX payment_webhooks_received ON payment_webhooks (event_id, received_at);

-- The reservation whose late payment bought this one.
ALTER TABLE reservations ADD COLUMN recovers uuid;
