-- Claims what was seen to be due, unless somebody else was faster: nobody tries it before the lease is
-- over. If something earlier of its reservation is still pending, it is put off instead until that may
-- be tried again. $1 event, $2 reservation, $3 version, $4 its due_at as it was seen, $5 lease in
-- seconds
--
-- One row, by its whole key, and with `coalesce` where the index of what is due would do: of a new event
-- Postgres believes that it has one row until the statistics catch up, and would go through all that
-- is due.
UPDATE reservation_events AS mine
SET due_at = coalesce(
    (
        SELECT greatest(max(due_at), now() + interval '1 second')
        FROM reservation_events
        WHERE event_id = $1
            AND reservation_id = $2
            AND version < $3
            AND coalesce(delivered_at, dead_at) IS NULL
        HAVING count(*) > 0
    ),
    now() + make_interval(secs => $5)
)
WHERE event_id = $1 AND reservation_id = $2 AND version = $3
    AND coalesce(due_at, '-infinity') = $4
RETURNING
    reservation_id, version, kind, happened_at, expires_at, due_at, attempts,
    NOT EXISTS (
        SELECT FROM reservation_events
        WHERE event_id = $1
            AND reservation_id = $2
            AND version < $3
            AND coalesce(delivered_at, dead_at) IS NULL
    ) AS is_claimed
