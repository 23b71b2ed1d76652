-- Each sector's counters beside the sums of its reservations, of one moment. $1 event
--
-- The full join is there for its plan: of a new event Postgres believes that it has one row until
-- the statistics catch up, and would make any other join by nested loops over all rows.
SELECT
    stock.sector_id, stock.capacity, stock.available, stock.held, stock.confirmed,
    coalesce(rows.held, 0) AS rows_held,
    coalesce(rows.confirmed, 0) AS rows_confirmed
FROM sector_stock AS stock
LEFT JOIN (
    SELECT
        sector_id,
        sum(items.quantity) FILTER (WHERE state = 'held') AS held,
        sum(items.quantity) FILTER (WHERE state = 'confirmed') AS confirmed
    FROM (SELECT * FROM reservations WHERE event_id = $1) AS reservations
    FULL JOIN (SELECT * FROM reservation_items WHERE event_id = $1) AS items USING (reservation_id)
    GROUP BY sector_id
) AS rows USING (sector_id)
WHERE stock.event_id = $1
ORDER BY stock.sector_id
