-- The charge of a reservation that is under way or has succeeded. $1 event, $2 reservation
SELECT provider, method
FROM payments
WHERE event_id = $1 AND reservation_id = $2
    AND kind = 'charge' AND state <> 'failed' AND NOT surplus
