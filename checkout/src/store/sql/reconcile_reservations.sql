-- Reservations that are not the sums of their items. $1 event, $2 how many at most
--
-- A full join as in reconcile_orphans.sql.
SELECT
    reservation_id, state, reservations.quantity, reservations.total,
    coalesce(items.quantity, 0) AS items_quantity,
    coalesce(items.total, 0) AS items_total
FROM (SELECT * FROM reservations WHERE event_id = $1) AS reservations
FULL JOIN (
    SELECT
        reservation_id,
        sum(quantity) AS quantity,
        sum(quantity * price)::bigint AS total
    FROM reservation_items
    WHERE event_id = $1
    GROUP BY reservation_id
) AS items USING (reservation_id)
WHERE coalesce(reservations.quantity <> coalesce(items.quantity, 0), false)
    OR coalesce(reservations.total <> coalesce(items.total, 0), false)
ORDER BY reservation_id
LIMIT $2
