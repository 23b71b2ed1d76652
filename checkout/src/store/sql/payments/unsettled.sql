-- Operations that are not done, by kind and state, and how long the oldest of them has been there, in
-- seconds. By event, so that only those are looked at.
SELECT
    unsettled.kind, unsettled.state, count(*),
    extract(epoch FROM now() - min(unsettled.created_at))::float8
FROM events
CROSS JOIN LATERAL (
    SELECT kind, state, created_at
    FROM payments
    WHERE payments.event_id = events.event_id AND next_check_at < 'infinity'
    OFFSET 0
) AS unsettled
GROUP BY unsettled.kind, unsettled.state
