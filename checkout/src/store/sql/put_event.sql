-- Makes an event or replaces its settings. $1 event, $2 name, $3 max_per_user,
-- $4 max_quantity_per_request, $5 hold_ttl_seconds, $6 currency
INSERT INTO events (
    event_id, name, max_per_user, max_quantity_per_request, hold_ttl_seconds, currency
)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (event_id) DO UPDATE
SET name = excluded.name,
    max_per_user = excluded.max_per_user,
    max_quantity_per_request = excluded.max_quantity_per_request,
    hold_ttl_seconds = excluded.hold_ttl_seconds,
    currency = excluded.currency,
    updated_at = now()
-- A row version that nobody has replaced has just been inserted.
RETURNING xmax = 0 AS created
