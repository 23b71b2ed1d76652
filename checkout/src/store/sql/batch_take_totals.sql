-- Adds to what people hold, if the event allows. Fewer rows than people: somebody's limit would be
-- passed. $1 event, $2 subs, each once, $3 a quantity for each, $4 the limit
INSERT INTO user_totals AS theirs (event_id, sub, held)
SELECT $1, sub, quantity
FROM unnest($2::text[], $3::integer[]) AS taken (sub, quantity)
ORDER BY sub
ON CONFLICT (event_id, sub) DO UPDATE
SET held = theirs.held + excluded.held
WHERE theirs.held + theirs.confirmed + excluded.held <= $4
