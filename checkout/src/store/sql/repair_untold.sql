-- Adds to the outbox what reconcile_untold.sql finds. $1 event
INSERT INTO reservation_events
    (event_id, kind, reservation_id, version, happened_at, expires_at)
SELECT
    $1,
    CASE WHEN state = 'held' AND version > 1 THEN 'extended' ELSE state END,
    reservation_id, version, changed_at,
    CASE WHEN state = 'held' THEN reservations.expires_at END
FROM (SELECT * FROM reservations WHERE event_id = $1) AS reservations
FULL JOIN (
    SELECT reservation_id, version, kind
    FROM reservation_events
    WHERE event_id = $1
) AS told USING (reservation_id, version)
WHERE coalesce(kind, '') = ''
    AND coalesce(
        changed_at > (SELECT since FROM reservation_events_kept WHERE event_id = $1),
        true
    )
ON CONFLICT (event_id, reservation_id, version) DO NOTHING
