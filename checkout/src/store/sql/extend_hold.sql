-- Makes a hold last longer, once: as long again as a new one, and in all no longer than the event
-- allows; and says so to the outbox. No row: it is not there, not this owner's, not live, extended
-- before, or would not last longer. $1 event, $2 reservation, $3 owner
WITH extended AS (
    UPDATE reservations
    SET expires_at = longest.expires_at, extended_at = now(), changed_at = now(), version = version + 1
    FROM (
        SELECT event_id, hold_ttl_seconds, coalesce(max_hold_seconds, 2 * hold_ttl_seconds) AS max_seconds
        FROM events
        WHERE event_id = $1
    ) AS event
    CROSS JOIN LATERAL (
        SELECT least(
            date_trunc('milliseconds', now()) + make_interval(secs => hold_ttl_seconds),
            created_at + make_interval(secs => max_seconds)
        ) AS expires_at
        FROM reservations
        WHERE event_id = $1 AND reservation_id = $2
    ) AS longest
    WHERE reservations.event_id = $1
        AND reservation_id = $2
        AND sub = $3
        AND state = 'held'
        AND now() < reservations.expires_at
        AND extended_at IS NULL
        AND longest.expires_at > reservations.expires_at
    RETURNING version, reservations.expires_at
)
INSERT INTO reservation_events (event_id, kind, reservation_id, version, expires_at)
SELECT $1, 'extended', $2, version, expires_at
FROM extended
