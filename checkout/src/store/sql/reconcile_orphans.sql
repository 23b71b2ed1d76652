-- Items whose reservation is not there. $1 event, $2 how many at most
--
-- A full join for the reason in reconcile_sectors.sql; a condition that no null can meet would make it
-- another one.
SELECT reservation_id, sector_id, items.quantity
FROM (SELECT * FROM reservations WHERE event_id = $1) AS reservations
FULL JOIN (SELECT * FROM reservation_items WHERE event_id = $1) AS items USING (reservation_id)
WHERE coalesce(state, '') = ''
ORDER BY reservation_id, sector_id
LIMIT $2
