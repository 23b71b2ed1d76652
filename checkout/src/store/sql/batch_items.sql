-- Writes the one item of each hold. $1 event, $2 reservations, $3 sector, $4 quantities, $5 price
INSERT INTO reservation_items (event_id, reservation_id, sector_id, quantity, price)
SELECT $1, id, $3, quantity, $5
FROM unnest($2::uuid[], $4::integer[]) AS made (id, quantity)
