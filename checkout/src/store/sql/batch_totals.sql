-- What people hold and own together. $1 event, $2 subs
SELECT sub, held + confirmed FROM user_totals WHERE event_id = $1 AND sub = ANY ($2::text[])
