-- The same for what has been due for so long and nobody has tried to deliver. $1 event, $2 in seconds,
-- $3 how many
WITH gone AS (
    DELETE FROM reservation_events
    WHERE event_id = $1
        AND attempts = 0
        AND due_at <= (
            SELECT max(due_at)
            FROM (
                SELECT due_at
                FROM reservation_events
                WHERE event_id = $1
                    AND due_at < now() - make_interval(secs => $2)
                    AND attempts = 0
                ORDER BY due_at
                LIMIT $3
            ) AS oldest
        )
    RETURNING happened_at
), noted AS (
    INSERT INTO reservation_events_kept AS kept (event_id, since)
    SELECT $1, max(happened_at) FROM gone HAVING count(*) > 0
    ON CONFLICT (event_id) DO UPDATE SET since = greatest(kept.since, excluded.since)
)
SELECT count(*) FROM gone
