-- What happened to reservations, on its way to the shop. A row is written by the transaction that
-- changes the reservation, and by nothing else: it is there exactly if the change is.
--
-- Instances from before this migration change reservations without a row. `checkout reconcile` finds
-- what they have left out, and adds it with `--repair`.
SET LOCAL lock_timeout = '2s';

-- Counts what happened to a reservation, from 1.
ALTER TABLE reservations ADD COLUMN version integer NOT NULL DEFAULT 1;

-- Pending while it has a `due_at`, and after that either delivered or dead. No foreign key, for the
-- reason in 0006. The body is made when it is sent, from this row and the reservation's, so that a
-- reservation pays for little.
CREATE TABLE reservation_events (
    event_id       text NOT NULL,
    -- What happened: a `Kind` of the checkout's outbox.
    kind           text NOT NULL,
    reservation_id uuid NOT NULL,
    -- The reservation's when this had happened.
    version        integer NOT NULL,
    -- Attempts at delivering it that have failed or, the last one, not.
    attempts       integer NOT NULL DEFAULT 0,
    happened_at    timestamptz NOT NULL DEFAULT now(),
    -- When the hold ends since then, if that is what changed.
    expires_at     timestamptz,
    -- When it is to be tried, or tried again if whoever tries now is not heard of any more.
    due_at         timestamptz DEFAULT now(),
    delivered_at   timestamptz,
    -- When it was given up.
    dead_at        timestamptz,
    -- Why the last attempt failed.
    last_error     text,
    PRIMARY KEY (event_id, reservation_id, version),
    CONSTRAINT pending_or_delivered_or_dead CHECK (num_nonnulls(due_at, delivered_at, dead_at) = 1)
);

-- The dispatcher's.
CREATE INDEX reservation_events_due ON reservation_events (event_id, due_at)
    WHERE due_at IS NOT NULL;
-- The purge's.
CREATE INDEX reservation_events_delivered ON reservation_events (event_id, delivered_at)
    WHERE delivered_at IS NOT NULL;
-- The operator's.
CREATE INDEX reservation_events_dead ON reservation_events (event_id, dead_at)
    WHERE dead_at IS NOT NULL;

-- Since when all of an event's rows are there; no row: from the beginning. What happened before was
-- purged, or was not written yet.
CREATE TABLE reservation_events_kept (
    event_id text PRIMARY KEY,
    since    timestamptz NOT NULL
);
INSERT INTO reservation_events_kept (event_id, since) SELECT event_id, now() FROM events;
