-- Holds whose time has passed, the longest overdue first. $1 event, $2 leaving out these, $3 how many
SELECT reservation_id
FROM reservations
WHERE event_id = $1 AND state = 'held' AND expires_at <= now() AND reservation_id <> ALL ($2::uuid[])
ORDER BY expires_at
LIMIT $3
