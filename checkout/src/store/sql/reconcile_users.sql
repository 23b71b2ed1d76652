-- People whose totals are not the sums of their reservations. $1 event, $2 how many at most
SELECT
    sub,
    coalesce(totals.held, 0)::bigint AS held,
    coalesce(totals.confirmed, 0)::bigint AS confirmed,
    coalesce(rows.held, 0) AS rows_held,
    coalesce(rows.confirmed, 0) AS rows_confirmed
FROM (SELECT * FROM user_totals WHERE event_id = $1) AS totals
FULL JOIN (
    SELECT
        sub,
        sum(quantity) FILTER (WHERE state = 'held') AS held,
        sum(quantity) FILTER (WHERE state = 'confirmed') AS confirmed
    FROM reservations
    WHERE event_id = $1
    GROUP BY sub
) AS rows USING (sub)
WHERE coalesce(totals.held, 0) <> coalesce(rows.held, 0)
    OR coalesce(totals.confirmed, 0) <> coalesce(rows.confirmed, 0)
ORDER BY sub
LIMIT $2
