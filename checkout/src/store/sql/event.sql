-- $1 event
SELECT
    event_id, name, max_per_user, max_quantity_per_request, hold_ttl_seconds, currency,
    coalesce(max_hold_seconds, 2 * hold_ttl_seconds) AS max_hold_seconds
FROM events
WHERE event_id = $1
