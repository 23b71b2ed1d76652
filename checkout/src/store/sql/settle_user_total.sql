-- The same for their owner. $1 event, $2 sub, $3 returned, $4 sold
UPDATE user_totals
SET held = held - $3 - $4, confirmed = confirmed + $4
WHERE event_id = $1 AND sub = $2
