-- $1 event, $2 sector, $3 name, $4 price
INSERT INTO sectors (event_id, sector_id, name, price) VALUES ($1, $2, $3, $4)
