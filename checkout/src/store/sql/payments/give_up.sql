-- Forgets a charge that was never sent. No row: it was. $1 event, $2 payment
UPDATE payments
SET state = 'failed', failure_code = 'hold_over', next_check_at = NULL, changed_at = now()
WHERE event_id = $1 AND payment_id = $2 AND kind = 'charge' AND state = 'created'
