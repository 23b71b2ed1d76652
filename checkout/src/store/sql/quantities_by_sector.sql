-- Places of some reservations, summed per sector, ascending. $1 event, $2 reservations
--
-- LATERAL for the reason in batch_terms.sql.
SELECT sector_id, sum(quantity)::integer AS quantity
FROM unnest($2::uuid[]) AS asked (id)
CROSS JOIN LATERAL (
    SELECT sector_id, quantity
    FROM reservation_items
    WHERE event_id = $1 AND reservation_id = asked.id
    OFFSET 0
) AS items
GROUP BY sector_id
ORDER BY sector_id
