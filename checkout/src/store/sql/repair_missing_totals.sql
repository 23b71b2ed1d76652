-- Makes people's totals where there are none. $1 event, $2 subs
INSERT INTO user_totals (event_id, sub, held)
SELECT $1, sub, 0
FROM unnest($2::text[]) AS asked (sub)
ORDER BY sub
ON CONFLICT (event_id, sub) DO NOTHING
