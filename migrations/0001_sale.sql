-- Events, sectors and their stock; reservations, per-user totals and idempotency records.
--
-- Every primary key and unique constraint leads with event_id, so that all rows of an event can
-- live on one Citus node: create_distributed_table(…, 'event_id'), co-located.

CREATE TABLE events (
    event_id                 text PRIMARY KEY CHECK (event_id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    name                     text NOT NULL,
    -- Places that one person may hold and own together, over all of their reservations.
    max_per_user             integer NOT NULL CHECK (max_per_user >= 1),
    max_quantity_per_request integer NOT NULL CHECK (max_quantity_per_request >= 1),
    hold_ttl_seconds         integer NOT NULL CHECK (hold_ttl_seconds >= 1),
    currency                 text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    created_at               timestamptz NOT NULL DEFAULT now(),
    updated_at               timestamptz NOT NULL DEFAULT now()
);

-- What a sector is. Rarely written, and the target of foreign keys.
CREATE TABLE sectors (
    event_id  text NOT NULL REFERENCES events (event_id),
    sector_id uuid NOT NULL,
    name      text NOT NULL,
    -- Of one place, in the currency's minor unit.
    price     bigint NOT NULL CHECK (price >= 0),
    PRIMARY KEY (event_id, sector_id),
    UNIQUE (event_id, name)
);

-- How much of a sector is left: the hot row. It is a table of its own, and no foreign key points
-- to it: every reference made would lock the row that everybody is waiting for. The low fillfactor
-- leaves room on the page for the row's next versions, so that updates stay heap-only. The last
-- CHECK makes the database itself conserve the stock.
CREATE TABLE sector_stock (
    event_id  text NOT NULL,
    sector_id uuid NOT NULL,
    capacity  integer NOT NULL,
    available integer NOT NULL CHECK (available >= 0),
    held      integer NOT NULL DEFAULT 0 CHECK (held >= 0),
    confirmed integer NOT NULL DEFAULT 0 CHECK (confirmed >= 0),
    PRIMARY KEY (event_id, sector_id),
    FOREIGN KEY (event_id, sector_id) REFERENCES sectors (event_id, sector_id),
    CONSTRAINT stock_is_conserved CHECK (available + held + confirmed = capacity)
) WITH (fillfactor = 50);

-- Rows stay for good: whoever pays late must find a trace of what they held. There is no foreign
-- key to events, which the items' one to sectors implies.
CREATE TABLE reservations (
    event_id       text NOT NULL,
    reservation_id uuid NOT NULL,
    sub            text NOT NULL,
    state          text NOT NULL CHECK (state IN ('held', 'confirmed', 'expired', 'cancelled')),
    -- The sum over the items.
    quantity       integer NOT NULL CHECK (quantity >= 1),
    -- In the currency's minor unit.
    total          bigint NOT NULL CHECK (total >= 0),
    currency       text NOT NULL,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL CHECK (expires_at > created_at),
    -- When the state was last changed.
    changed_at     timestamptz NOT NULL,
    PRIMARY KEY (event_id, reservation_id)
);

-- The sweeper's.
CREATE INDEX reservations_held ON reservations (event_id, expires_at) WHERE state = 'held';
-- The service that confirms knows a reservation's id and not its event.
CREATE INDEX reservations_by_id ON reservations (reservation_id);

CREATE TABLE reservation_items (
    event_id       text NOT NULL,
    reservation_id uuid NOT NULL,
    sector_id      uuid NOT NULL,
    quantity       integer NOT NULL CHECK (quantity >= 1),
    -- Of one place, as it was when the hold was made.
    price          bigint NOT NULL CHECK (price >= 0),
    PRIMARY KEY (event_id, reservation_id, sector_id),
    FOREIGN KEY (event_id, reservation_id) REFERENCES reservations (event_id, reservation_id),
    FOREIGN KEY (event_id, sector_id) REFERENCES sectors (event_id, sector_id)
);

-- What a person holds and owns, so that the limit is decided by one conditional write.
CREATE TABLE user_totals (
    event_id  text NOT NULL,
    sub       text NOT NULL,
    held      integer NOT NULL CHECK (held >= 0),
    confirmed integer NOT NULL DEFAULT 0 CHECK (confirmed >= 0),
    PRIMARY KEY (event_id, sub)
) WITH (fillfactor = 80);

-- One row per decided request. It is written with its answer, in the transaction that decides.
CREATE TABLE idempotency_keys (
    event_id    text NOT NULL,
    -- The person; empty, which no person's name can be, for the service that confirms.
    sub         text NOT NULL,
    key         text NOT NULL,
    -- SHA-256 of the canonical request.
    fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    status      smallint NOT NULL,
    -- Replayed byte for byte.
    body        text NOT NULL,
    decided_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (event_id, sub, key)
);

-- The purge's.
CREATE INDEX idempotency_keys_decided ON idempotency_keys (event_id, decided_at);
