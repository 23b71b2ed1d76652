-- Says what became of a claim, unless somebody else has claimed it since. What comes after it in the
-- same reservation is due now, if it has been put off. $1 event, $2 reservation, $3 version, $4 the
-- claim's due_at, $5 `delivered`, `failed` or `dead`, $6 when it has failed: seconds until the next
-- attempt, $7 why it has failed
--
-- `coalesce` for the reason in outbox_claim.sql.
WITH settled AS (
    UPDATE reservation_events
    SET attempts = attempts + 1,
        due_at = CASE $5 WHEN 'failed' THEN now() + make_interval(secs => $6) END,
        delivered_at = CASE $5 WHEN 'delivered' THEN now() END,
        dead_at = CASE $5 WHEN 'dead' THEN now() END,
        last_error = $7
    WHERE event_id = $1 AND reservation_id = $2 AND version = $3
        AND coalesce(due_at, '-infinity') = $4
    RETURNING version
), next AS (
    UPDATE reservation_events
    SET due_at = now()
    WHERE event_id = $1
        AND reservation_id = $2
        AND due_at > now()
        AND version = (
            SELECT min(version)
            FROM reservation_events
            WHERE event_id = $1
                AND reservation_id = $2
                AND version > (SELECT version FROM settled)
                AND coalesce(delivered_at, dead_at) IS NULL
        )
        AND $5 <> 'failed'
)
SELECT count(*) FROM settled
