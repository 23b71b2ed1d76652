-- What people hold and own together. $1 event, $2 subs
--
-- LATERAL for the same reason as in batch_recorded.sql: with `sub = ANY ($2)` Postgres went through
-- all of the event's people for each batch.
SELECT asked.sub, total
FROM unnest($2::text[]) AS asked (sub)
CROSS JOIN LATERAL (
    SELECT held + confirmed AS total
    FROM user_totals
    WHERE event_id = $1 AND sub = asked.sub
    OFFSET 0
) AS known
