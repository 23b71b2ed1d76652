-- Expires those of the given holds whose time has passed and that nobody else has at hand, and says so
-- to the outbox. $1 event, $2 reservations
--
-- LATERAL for the reason in batch_terms.sql, and an insert that always meets a row for the one in
-- return_user_totals.sql.
WITH due AS (
    SELECT due.*
    FROM unnest($2::uuid[]) AS asked (id)
    CROSS JOIN LATERAL (
        SELECT reservation_id, sub, quantity, total, currency, created_at, expires_at
        FROM reservations
        WHERE event_id = $1
            AND reservation_id = asked.id
            AND state = 'held'
            AND expires_at <= now()
        FOR UPDATE SKIP LOCKED
    ) AS due
), expired AS (
    INSERT INTO reservations AS hold (
        event_id, reservation_id, sub, state, quantity, total, currency,
        created_at, expires_at, changed_at
    )
    SELECT
        $1, reservation_id, sub, 'expired', quantity, total, currency,
        created_at, expires_at, now()
    FROM due
    ON CONFLICT (event_id, reservation_id) DO UPDATE
    SET state = excluded.state, changed_at = excluded.changed_at, version = hold.version + 1
    WHERE hold.state = 'held' AND hold.expires_at <= now()
    RETURNING reservation_id, sub, quantity, version
), told AS (
    INSERT INTO reservation_events (event_id, kind, reservation_id, version)
    SELECT $1, 'expired', reservation_id, version
    FROM expired
)
SELECT reservation_id, sub, quantity
FROM expired
