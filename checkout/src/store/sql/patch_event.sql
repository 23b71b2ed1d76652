-- Changes those settings of an event that are not null. Parameters as in put_event.sql.
UPDATE events
SET name = coalesce($2, name),
    max_per_user = coalesce($3, max_per_user),
    max_quantity_per_request = coalesce($4, max_quantity_per_request),
    hold_ttl_seconds = coalesce($5, hold_ttl_seconds),
    currency = coalesce($6, currency),
    max_hold_seconds = coalesce($7, max_hold_seconds),
    updated_at = now()
WHERE event_id = $1
RETURNING false AS created
