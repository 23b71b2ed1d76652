-- Forgets what was delivered longer ago than its retention, the oldest first, and with the last of it
-- all of the same moment; and notes up to when something is missing. $1 event, $2 retention in seconds,
-- $3 how many
WITH gone AS (
    DELETE FROM reservation_events
    WHERE event_id = $1
        AND delivered_at <= (
            SELECT max(delivered_at)
            FROM (
                SELECT delivered_at
                FROM reservation_events
                WHERE event_id = $1 AND delivered_at < now() - make_interval(secs => $2)
                ORDER BY delivered_at
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
