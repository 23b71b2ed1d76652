-- Writes down what the provider calls a charge, before it is made. No row: it was settled or named
-- meanwhile, and must not be made. $1 event, $2 payment, $3 the name
UPDATE payments
SET reference = $3
WHERE event_id = $1 AND payment_id = $2
    AND state IN ('submitted', 'unknown') AND coalesce(reference, $3) = $3
