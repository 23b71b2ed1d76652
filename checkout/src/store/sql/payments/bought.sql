-- Writes down which reservation the money bought. $1 event, $2 payment, $3 reservation
UPDATE payments SET bought_id = $3 WHERE event_id = $1 AND payment_id = $2
