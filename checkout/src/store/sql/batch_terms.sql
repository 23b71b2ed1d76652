-- What a batch is decided by, of one moment. No row: the sector is not the event's. $1 event,
-- $2 sector, $3 the orders' subs, $4 their keys
--
-- Subqueries by all columns of a primary key, and neither joins nor `= ANY`: of a new event Postgres
-- believes that it has one row until the statistics catch up, and would go through all of the
-- event's rows for each batch.
SELECT
    date_trunc('milliseconds', now()) AS created_at,
    date_trunc('milliseconds', now()) + make_interval(secs => hold_ttl_seconds) AS expires_at,
    max_per_user, currency, price, available,
    -- What each order's person holds and owns.
    ARRAY(
        SELECT coalesce((
            SELECT held + confirmed FROM user_totals WHERE event_id = $1 AND sub = asked.sub
        ), 0)
        FROM unnest($3::text[]) WITH ORDINALITY AS asked (sub, place)
        ORDER BY place
    ) AS totals,
    -- The places, from 1, of orders whose keys are decided already.
    ARRAY(
        SELECT place
        FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS asked (sub, key, place)
        CROSS JOIN LATERAL (
            SELECT FROM idempotency_keys
            WHERE event_id = $1 AND sub = asked.sub AND key = asked.key
            OFFSET 0
        ) AS known
    ) AS recorded
FROM events
JOIN sectors USING (event_id)
JOIN sector_stock USING (event_id, sector_id)
WHERE event_id = $1 AND sector_id = $2
