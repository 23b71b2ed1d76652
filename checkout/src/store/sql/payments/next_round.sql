-- Makes ready to try a refund again that the provider has refused, under another key. No row: it has
-- been taken up already. $1 event, $2 payment, $3 the try that was refused
UPDATE payments
SET state = 'created', round = round + 1, reference = NULL, failure_code = NULL,
    next_check_at = now(), changed_at = now()
WHERE event_id = $1 AND payment_id = $2 AND kind = 'refund' AND state = 'failed' AND round = $3
