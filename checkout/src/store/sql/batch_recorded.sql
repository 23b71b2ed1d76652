-- What was answered to keys before, with each key's place. $1 event, $2 subs, $3 their keys
--
-- LATERAL with all columns of the primary key: of a new event Postgres believes that it has one row
-- until the statistics catch up, and would join by going through all of the event's rows.
SELECT place, fingerprint, status, body
FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS asked (sub, key, place)
CROSS JOIN LATERAL (
    SELECT fingerprint, status, body
    FROM idempotency_keys
    WHERE event_id = $1 AND sub = asked.sub AND key = asked.key
    OFFSET 0
) AS known
