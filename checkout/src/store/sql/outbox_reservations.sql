-- Reservations as they are now, one row per item. $1 event, $2 reservations
--
-- LATERAL for the reason in batch_terms.sql.
SELECT
    $1 AS event_id, asked.reservation_id, sub, state, total, currency, created_at, expires_at,
    sector_id, items.quantity, price
FROM unnest($2::uuid[]) AS asked (reservation_id)
CROSS JOIN LATERAL (
    SELECT sub, state, total, currency, created_at, expires_at
    FROM reservations
    WHERE event_id = $1 AND reservation_id = asked.reservation_id
    OFFSET 0
) AS reservation
CROSS JOIN LATERAL (
    SELECT sector_id, quantity, price
    FROM reservation_items
    WHERE event_id = $1 AND reservation_id = asked.reservation_id
    OFFSET 0
) AS items
ORDER BY asked.reservation_id, sector_id
