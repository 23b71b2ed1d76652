-- Takes a hold whose time has not passed to another state. No row: it is not there, not this
-- owner's, or not held any more. $1 event, $2 reservation, $3 owner or null for anybody, $4 state
UPDATE reservations
SET state = $4, changed_at = now()
WHERE event_id = $1
    AND reservation_id = $2
    AND ($3::text IS NULL OR sub = $3)
    AND state = 'held'
    AND now() < expires_at
