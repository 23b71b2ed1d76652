-- An operation, until the end of the transaction nobody else's. $1 event, $2 payment, $3 provider
SELECT *
FROM payments
WHERE event_id = $1 AND payment_id = $2 AND provider = $3
FOR UPDATE
