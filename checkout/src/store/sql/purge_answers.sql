-- Forgets answers past their retention, the oldest first, and with the last of them all of the same
-- moment. $1 event, $2 retention in seconds, $3 how many
DELETE FROM idempotency_keys
WHERE event_id = $1
    AND decided_at <= (
        SELECT max(decided_at)
        FROM (
            SELECT decided_at
            FROM idempotency_keys
            WHERE event_id = $1 AND decided_at < now() - make_interval(secs => $2)
            ORDER BY decided_at
            LIMIT $3
        ) AS oldest
    )
