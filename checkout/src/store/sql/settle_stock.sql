-- Places leave `held`: back to the stock, or sold. $1 event, $2 sector, $3 returned, $4 sold
UPDATE sector_stock
SET held = held - $3 - $4, available = available + $3, confirmed = confirmed + $4
WHERE event_id = $1 AND sector_id = $2
