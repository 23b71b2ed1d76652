-- $1 event, $2 sector, $3 held, $4 confirmed
UPDATE sector_stock
SET held = $3, confirmed = $4, available = capacity - $3 - $4
WHERE event_id = $1 AND sector_id = $2
