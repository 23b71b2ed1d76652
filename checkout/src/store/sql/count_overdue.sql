-- Holds of all events whose time has passed, counted up to $1.
SELECT count(*)
FROM (
    SELECT FROM events
    JOIN reservations USING (event_id)
    WHERE state = 'held' AND expires_at <= now()
    LIMIT $1
) AS overdue
