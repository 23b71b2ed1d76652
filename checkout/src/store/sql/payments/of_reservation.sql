-- The charge of a reservation, or of the one whose late payment bought it: the one that counts, or else
-- the last. $1 event, $2 reservation
SELECT
    charge.payment_id, charge.provider, charge.state, charge.amount, charge.currency,
    charge.failure_code, charge.customer_action, charge.bought_id,
    bought.created_at AS bought_at,
    refund.state AS refund_state,
    coalesce(refund.round, 0) AS refund_round
FROM payments AS charge
LEFT JOIN payments AS refund
    ON refund.event_id = charge.event_id
    AND refund.charge_id = charge.payment_id AND refund.kind = 'refund'
LEFT JOIN reservations AS bought
    ON bought.event_id = charge.event_id AND bought.reservation_id = charge.bought_id
WHERE charge.event_id = $1
    AND charge.kind = 'charge'
    AND charge.reservation_id = coalesce(
        (SELECT recovers FROM reservations WHERE event_id = $1 AND reservation_id = $2), $2
    )
ORDER BY charge.state <> 'failed' AND NOT charge.surplus DESC, charge.created_at DESC
LIMIT 1
