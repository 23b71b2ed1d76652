-- The charge of a reservation, or of the one whose late payment bought it: the one that counts, or else
-- the last. $1 event, $2 reservation
--
-- LATERAL for the reason in batch_terms.sql.
SELECT
    charge.payment_id, charge.provider, charge.state, charge.amount, charge.currency,
    charge.failure_code, charge.customer_action, charge.bought_id,
    bought.created_at AS bought_at,
    refund.state AS refund_state,
    coalesce(refund.round, 0) AS refund_round
FROM payments AS charge
LEFT JOIN LATERAL (
    SELECT state, round
    FROM payments
    WHERE event_id = $1 AND charge_id = charge.payment_id AND kind = 'refund'
    OFFSET 0
) AS refund ON true
LEFT JOIN LATERAL (
    SELECT created_at
    FROM reservations
    WHERE event_id = $1 AND reservation_id = charge.bought_id
    OFFSET 0
) AS bought ON true
WHERE charge.event_id = $1
    AND charge.kind = 'charge'
    AND charge.reservation_id = coalesce(
        (SELECT recovers FROM reservations WHERE event_id = $1 AND reservation_id = $2), $2
    )
ORDER BY charge.state <> 'failed' AND NOT charge.surplus DESC, charge.created_at DESC
LIMIT 1
