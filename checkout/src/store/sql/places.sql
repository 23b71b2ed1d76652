-- Places left and held, by event. $1 events, or null for all
SELECT event_id, sum(available), sum(held)
FROM sector_stock
WHERE $1::text[] IS NULL OR event_id = ANY ($1)
GROUP BY event_id
