-- Payment operations of an event that are not done, by kind and state, and how long the oldest of them has
-- been there. $1 event, $2 look at so many, the longest due first
SELECT kind, state, count(*), extract(epoch FROM now() - min(created_at))::bigint AS oldest_seconds
FROM (
    SELECT kind, state, created_at
    FROM payments
    WHERE event_id = $1 AND next_check_at < 'infinity'
    ORDER BY next_check_at
    LIMIT $2
) AS unsettled
GROUP BY kind, state
ORDER BY kind, state
