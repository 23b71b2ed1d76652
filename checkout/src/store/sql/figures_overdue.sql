-- Holds of an event whose time has passed, and for how long the first of them has been. $1 event, $2 count
-- up to so many
SELECT count(*), coalesce(extract(epoch FROM now() - min(expires_at)), 0)::bigint AS oldest_seconds
FROM (
    SELECT expires_at
    FROM reservations
    WHERE event_id = $1 AND state = 'held' AND expires_at <= now()
    ORDER BY expires_at
    LIMIT $2
) AS overdue
