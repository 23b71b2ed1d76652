-- $1 event
SELECT event_id, name, max_per_user, max_quantity_per_request, hold_ttl_seconds, currency
FROM events
WHERE event_id = $1
