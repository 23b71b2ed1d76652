-- Takes places, if there are as many. No row: sold out. This condition is what keeps a place from
-- being sold twice. $1 event, $2 sector, $3 quantity
UPDATE sector_stock
SET available = available - $3, held = held + $3
WHERE event_id = $1 AND sector_id = $2 AND available >= $3
RETURNING available
