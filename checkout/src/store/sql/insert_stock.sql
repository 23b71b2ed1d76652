-- $1 event, $2 sector, $3 capacity
INSERT INTO sector_stock (event_id, sector_id, capacity, available) VALUES ($1, $2, $3, $3)
