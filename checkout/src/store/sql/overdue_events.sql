-- The events that have holds whose time has passed.
SELECT event_id
FROM events
WHERE EXISTS (
    SELECT FROM reservations
    WHERE reservations.event_id = events.event_id AND state = 'held' AND expires_at <= now()
)
