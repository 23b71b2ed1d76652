-- What is not told yet, of one event or of all: how much, counted up to $2 in each event, and for how
-- many seconds the oldest of it waits, of the $3 that are due first and of as many that are due last.
-- $1 event, or null for all
SELECT
    coalesce(sum(pending), 0)::bigint AS pending,
    coalesce(extract(epoch FROM now() - min(oldest)), 0)::float8 AS oldest_seconds
FROM (SELECT event_id FROM events WHERE $1::text IS NULL OR event_id = $1) AS asked
CROSS JOIN LATERAL (
    SELECT count(*) AS pending
    FROM (
        SELECT FROM reservation_events
        WHERE event_id = asked.event_id AND due_at IS NOT NULL
        LIMIT $2
    ) AS counted
) AS backlog
CROSS JOIN LATERAL (
    SELECT least(
        (
            SELECT min(happened_at)
            FROM (
                SELECT happened_at
                FROM reservation_events
                WHERE event_id = asked.event_id AND due_at IS NOT NULL
                ORDER BY due_at
                LIMIT $3
            ) AS due_first
        ),
        (
            SELECT min(happened_at)
            FROM (
                SELECT happened_at
                FROM reservation_events
                WHERE event_id = asked.event_id AND due_at IS NOT NULL
                ORDER BY due_at DESC
                LIMIT $3
            ) AS due_last
        )
    ) AS oldest
) AS waiting
