-- $1 event, $2 sector, $3 name, $4 price
UPDATE sectors SET name = $3, price = $4 WHERE event_id = $1 AND sector_id = $2
