-- What was given up, the newest first. $1 event, $2 how many
SELECT reservation_id, version, kind, happened_at, attempts, dead_at, last_error
FROM reservation_events
WHERE event_id = $1 AND dead_at IS NOT NULL
ORDER BY dead_at DESC
LIMIT $2
