-- Writes what was heard of an operation. $1 event, $2 payment, $3 state, $4 the provider's name for it,
-- $5 why it failed, $6 what the customer must do, $7 whether it is surplus, $8 seconds to the next look,
-- or null when all is done
UPDATE payments
SET state = $3,
    reference = coalesce($4, reference),
    failure_code = $5,
    customer_action = $6,
    surplus = surplus OR $7,
    next_check_at = now() + make_interval(secs => $8),
    changed_at = now()
WHERE event_id = $1 AND payment_id = $2
