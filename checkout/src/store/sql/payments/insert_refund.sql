-- Writes the refund of a charge, once. $1 event, $2 the refund's id, $3 the charge, $4 why
INSERT INTO payments (
    event_id, payment_id, reservation_id, kind, charge_id, reason, provider, amount, currency,
    next_check_at
)
SELECT event_id, $2, reservation_id, 'refund', payment_id, $4, provider, amount, currency, now()
FROM payments
WHERE event_id = $1 AND payment_id = $3
ON CONFLICT (event_id, charge_id) WHERE kind = 'refund' DO NOTHING
