-- The events that have operations to be looked after.
SELECT event_id
FROM events
WHERE EXISTS (
    SELECT FROM payments WHERE payments.event_id = events.event_id AND next_check_at <= now()
)
