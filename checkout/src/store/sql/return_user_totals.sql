-- Takes expired places off people's totals, in ascending order; true for each person that has none,
-- which must not be. $1 event, $2 subs, $3 a quantity for each
--
-- An insert that always meets a row: it finds each by its whole key. An update would go through all of
-- the event's rows (by an array as by a join) while Postgres believes that a new event has one row,
-- until the statistics catch up.
INSERT INTO user_totals AS theirs (event_id, sub, held)
SELECT $1, sub, quantity
FROM unnest($2::text[], $3::integer[]) AS returned (sub, quantity)
ORDER BY sub
ON CONFLICT (event_id, sub) DO UPDATE
SET held = theirs.held - excluded.held
-- A row version that nobody has replaced has just been inserted.
RETURNING xmax = 0 AS is_missing
