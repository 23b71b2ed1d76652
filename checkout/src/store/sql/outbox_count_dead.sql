-- $1 event
SELECT count(*) FROM reservation_events WHERE event_id = $1 AND dead_at IS NOT NULL
