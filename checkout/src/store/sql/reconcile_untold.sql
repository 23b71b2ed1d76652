-- Reservations whose last change is not in the outbox, of those that it must hold. $1 event, $2 how many
-- at most
--
-- A full join as in reconcile_orphans.sql.
SELECT reservation_id, state, version
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
ORDER BY reservation_id
LIMIT $2
