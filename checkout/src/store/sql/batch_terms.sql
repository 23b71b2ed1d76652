-- What holds for every order of a batch. No row: the sector is not the event's. $1 event, $2 sector
SELECT
    date_trunc('milliseconds', now()) AS created_at,
    date_trunc('milliseconds', now()) + make_interval(secs => hold_ttl_seconds) AS expires_at,
    max_per_user, currency, price, available
FROM events
JOIN sectors USING (event_id)
JOIN sector_stock USING (event_id, sector_id)
WHERE event_id = $1 AND sector_id = $2
