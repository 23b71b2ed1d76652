-- Ends a hold whose time has passed, if the sweeper has not, and says so to the outbox; waits for whoever has
-- it at hand. No row: it is not held any more. $1 event, $2 reservation
WITH expired AS (
    UPDATE reservations
    SET state = 'expired', changed_at = now(), version = version + 1
    WHERE event_id = $1 AND reservation_id = $2 AND state = 'held' AND now() >= expires_at
    RETURNING version
)
INSERT INTO reservation_events (event_id, kind, reservation_id, version)
SELECT $1, 'expired', $2, version
FROM expired
