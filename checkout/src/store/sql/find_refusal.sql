-- Why an order is no reservation. $1 event, $2 the order's id, $3 sub
SELECT status, body
FROM idempotency_keys
WHERE event_id = $1 AND refused_id = $2 AND sub = $3
