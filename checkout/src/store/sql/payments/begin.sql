-- Takes an operation that was never sent, to send it now; nobody else looks after it for $3 seconds. No
-- row: it is not there, or somebody else has taken it. $1 event, $2 payment
WITH begun AS (
    UPDATE payments
    SET state = 'submitted', attempts = attempts + 1, changed_at = now(),
        next_check_at = now() + make_interval(secs => $3)
    WHERE event_id = $1 AND payment_id = $2 AND state = 'created'
    RETURNING *
)
SELECT
    begun.*,
    (
        SELECT reference FROM payments WHERE event_id = $1 AND payment_id = begun.charge_id
    ) AS charge_reference,
    'live' AS hold
FROM begun
