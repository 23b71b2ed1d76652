-- Takes operations that have to be looked after, the longest due first; nobody else looks after them for
-- $3 seconds. Those that another instance is taking are left to it. $1 event, $2 how many
--
-- By ctid, and the others by subqueries, for the reason in batch_terms.sql. A row that was changed between
-- the two is left for the next time.
WITH claimed AS (
    UPDATE payments
    SET attempts = attempts + 1, next_check_at = now() + make_interval(secs => $3)
    WHERE ctid = ANY (ARRAY(
        SELECT ctid
        FROM payments
        WHERE event_id = $1 AND next_check_at <= now()
        ORDER BY next_check_at
        LIMIT $2
        FOR UPDATE SKIP LOCKED
    ))
    RETURNING *
)
SELECT
    claimed.*,
    (
        SELECT reference FROM payments WHERE event_id = $1 AND payment_id = claimed.charge_id
    ) AS charge_reference,
    (
        SELECT
            CASE
                WHEN state = 'held' AND now() < expires_at THEN 'live'
                WHEN state = 'cancelled' THEN 'let_go'
                ELSE 'over'
            END
        FROM reservations
        WHERE event_id = $1 AND reservation_id = claimed.reservation_id
    ) AS hold
FROM claimed
