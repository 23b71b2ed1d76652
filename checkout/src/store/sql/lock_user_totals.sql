-- Locks people's totals in ascending order. $1 event, $2 subs
SELECT FROM user_totals
WHERE event_id = $1 AND sub = ANY ($2::text[])
ORDER BY sub
FOR NO KEY UPDATE
