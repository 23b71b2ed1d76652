-- Adds to what a person holds, if the event allows. No row: the limit would be passed.
-- $1 event, $2 sub, $3 quantity
INSERT INTO user_totals AS mine (event_id, sub, held)
SELECT event_id, $2, $3
FROM events
WHERE event_id = $1 AND $3 <= max_per_user
ON CONFLICT (event_id, sub) DO UPDATE
SET held = mine.held + excluded.held
WHERE mine.held + mine.confirmed + excluded.held
    <= (SELECT max_per_user FROM events WHERE event_id = $1)
