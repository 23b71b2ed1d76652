-- Expires those of the given holds whose time has passed and that nobody else has at hand, and says so
-- to the outbox. $1 event, $2 reservations
--
-- By an array and not by a join: of a new event Postgres believes that it has one row until the
-- statistics catch up, and would join by going through all of the event's rows for each hold.
WITH expired AS (
    UPDATE reservations
    SET state = 'expired', changed_at = now(), version = version + 1
    WHERE event_id = $1
        AND state = 'held'
        AND reservation_id = ANY (ARRAY(
            SELECT reservation_id
            FROM reservations
            WHERE event_id = $1
                AND reservation_id = ANY ($2::uuid[])
                AND state = 'held'
                AND expires_at <= now()
            FOR UPDATE SKIP LOCKED
        ))
    RETURNING reservation_id, sub, quantity, version
), told AS (
    INSERT INTO reservation_events (event_id, kind, reservation_id, version)
    SELECT $1, 'expired', reservation_id, version
    FROM expired
)
SELECT reservation_id, sub, quantity
FROM expired
