-- Takes operations that have to be looked after, the longest due first; nobody else looks after them for
-- $3 seconds. Those that another instance is taking are left to it. $1 event, $2 how many
WITH claimed AS (
    UPDATE payments
    SET attempts = attempts + 1, next_check_at = now() + make_interval(secs => $3)
    WHERE event_id = $1
        AND payment_id = ANY (ARRAY(
            SELECT payment_id
            FROM payments
            WHERE event_id = $1 AND next_check_at <= now()
            ORDER BY next_check_at
            LIMIT $2
            FOR UPDATE SKIP LOCKED
        ))
    RETURNING *
)
SELECT
    claimed.*, charge.reference AS charge_reference,
    CASE
        WHEN reservations.state = 'held' AND now() < expires_at THEN 'live'
        WHEN reservations.state = 'cancelled' THEN 'let_go'
        ELSE 'over'
    END AS hold
FROM claimed
JOIN reservations
    ON reservations.event_id = claimed.event_id
    AND reservations.reservation_id = claimed.reservation_id
LEFT JOIN payments AS charge
    ON charge.event_id = claimed.event_id AND charge.payment_id = claimed.charge_id
