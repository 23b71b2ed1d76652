-- Holds that are extended once, and orders whose callers were told to look again later. All of it is
-- nullable: instances from before write nothing into it.
SET LOCAL lock_timeout = '2s';

-- How long a hold may last in all, from when it was made. Null is twice `hold_ttl_seconds`.
ALTER TABLE events ADD COLUMN max_hold_seconds integer CHECK (max_hold_seconds >= 1);

-- When the hold was extended; a second time it is not.
ALTER TABLE reservations ADD COLUMN extended_at timestamptz;

-- The id that a refused order would have had, so that whoever was told to look again finds why.
ALTER TABLE idempotency_keys ADD COLUMN refused_id uuid;
