-- Holds of an event whose time has passed and that are not swept yet. $1 event
SELECT count(*) FROM reservations WHERE event_id = $1 AND state = 'held' AND expires_at <= now()
