-- Has what was given up tried again, as if for the first time: the oldest first, and with the last of
-- it all of the same moment. $1 event, $2 how many
UPDATE reservation_events
SET due_at = now(), dead_at = NULL, attempts = 0
WHERE event_id = $1
    AND dead_at <= (
        SELECT max(dead_at)
        FROM (
            SELECT dead_at
            FROM reservation_events
            WHERE event_id = $1 AND dead_at IS NOT NULL
            ORDER BY dead_at
            LIMIT $2
        ) AS oldest
    )
