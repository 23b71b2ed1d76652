-- Takes a hold whose time has not passed to another state, and says so to the outbox. No row: it is not
-- there, not this owner's, or not held any more. $1 event, $2 reservation, $3 owner or null for anybody,
-- $4 state
WITH done AS (
    UPDATE reservations
    SET state = $4, changed_at = now(), version = version + 1
    WHERE event_id = $1
        AND reservation_id = $2
        AND ($3::text IS NULL OR sub = $3)
        AND state = 'held'
        AND now() < expires_at
    RETURNING version
)
INSERT INTO reservation_events (event_id, kind, reservation_id, version)
SELECT $1, $4, $2, version
FROM done
