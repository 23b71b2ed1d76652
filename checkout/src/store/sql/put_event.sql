-- Makes an event or replaces its settings. $1 event, $2 name, $3 max_per_user,
-- $4 max_quantity_per_request, $5 hold_ttl_seconds, $6 currency,
-- $7 max_hold_seconds or null
INSERT INTO events (
    event_id, name, max_per_user, max_quantity_per_request, hold_ttl_seconds, currency,
    max_hold_seconds
)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (event_id) DO UPDATE
SET name = excluded.name,
    max_per_user = excluded.max_per_user,
    max_quantity_per_request = excluded.max_quantity_per_request,
    hold_ttl_seconds = excluded.hold_ttl_seconds,
    currency = excluded.currency,
    max_hold_seconds = excluded.max_hold_seconds,
    updated_at = now()
-- A row version that nobody has replaced has just been inserted.
RETURNING xmax = 0 AS created
