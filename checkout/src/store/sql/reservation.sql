-- A reservation, one row per item, ascending. $1 event, $2 reservation, $3 owner or null for anybody
SELECT
    reservations.event_id, reservations.reservation_id, reservations.sub,
    CASE WHEN state = 'held' AND now() >= expires_at THEN 'expired' ELSE state END AS state,
    reservations.total, reservations.currency, reservations.created_at, reservations.expires_at,
    items.sector_id, items.quantity, items.price
FROM reservations
JOIN reservation_items AS items USING (event_id, reservation_id)
WHERE event_id = $1 AND reservation_id = $2 AND ($3::text IS NULL OR reservations.sub = $3)
ORDER BY items.sector_id
