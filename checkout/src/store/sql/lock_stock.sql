-- Locks the stock of an event's sectors in ascending order. $1 event
SELECT FROM sector_stock WHERE event_id = $1 ORDER BY sector_id FOR NO KEY UPDATE
