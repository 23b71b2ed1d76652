-- $1 event
SELECT sector_id, name, price, capacity, available, held, confirmed
FROM sectors
JOIN sector_stock USING (event_id, sector_id)
WHERE event_id = $1
ORDER BY sector_id
