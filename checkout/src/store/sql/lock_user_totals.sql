-- Locks people's totals in ascending order. $1 event, $2 subs
--
-- LATERAL for the reason in batch_terms.sql.
SELECT
FROM (SELECT sub FROM unnest($2::text[]) AS asked (sub) ORDER BY sub) AS asked
CROSS JOIN LATERAL (
    SELECT FROM user_totals WHERE event_id = $1 AND sub = asked.sub FOR NO KEY UPDATE
) AS locked
