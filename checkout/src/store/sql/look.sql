-- Whether there is a place, and who has an answer on record, of one moment. $1 event, $2 sector,
-- $3 only records since so long, in seconds, before this time, $4 or null for all, $5 how many at most
SELECT
    now() AS at,
    (SELECT available FROM sector_stock WHERE event_id = $1 AND sector_id = $2) AS available,
    ARRAY(
        SELECT DISTINCT sub
        FROM idempotency_keys
        WHERE event_id = $1
            AND ($4::timestamptz IS NULL OR decided_at >= $4 - make_interval(secs => $3))
        LIMIT $5
    ) AS people
