-- Raises or lowers a capacity. No row: more places are held and sold. $1 event, $2 sector, $3 capacity
UPDATE sector_stock
SET capacity = $3, available = $3 - held - confirmed
WHERE event_id = $1 AND sector_id = $2 AND held + confirmed <= $3
