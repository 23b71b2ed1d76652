-- The events that have something to be told by now.
SELECT event_id
FROM events
WHERE EXISTS (
    SELECT FROM reservation_events
    WHERE reservation_events.event_id = events.event_id AND due_at <= now()
)
ORDER BY event_id
