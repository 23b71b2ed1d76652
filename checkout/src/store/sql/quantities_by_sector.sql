-- Places of some reservations, summed per sector, ascending. $1 event, $2 reservations
SELECT sector_id, sum(quantity)::integer AS quantity
FROM reservation_items
WHERE event_id = $1 AND reservation_id = ANY ($2::uuid[])
GROUP BY sector_id
ORDER BY sector_id
