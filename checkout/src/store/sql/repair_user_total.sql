-- $1 event, $2 sub, $3 held, $4 confirmed
UPDATE user_totals SET held = $3, confirmed = $4 WHERE event_id = $1 AND sub = $2
