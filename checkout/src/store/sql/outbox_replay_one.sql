-- The same for one message. $1 event, $2 reservation, $3 version
UPDATE reservation_events
SET due_at = now(), dead_at = NULL, attempts = 0
WHERE event_id = $1 AND reservation_id = $2 AND version = $3 AND dead_at IS NOT NULL
