-- Takes expired places off people's totals. By arrays and not by a join, as in expire.sql.
-- $1 event, $2 subs, $3 a quantity for each
UPDATE user_totals
SET held = held - ($3::integer[])[array_position($2::text[], sub)]
WHERE event_id = $1 AND sub = ANY ($2::text[])
