-- What was answered to keys before, with each key's place. $1 event, $2 subs, $3 their keys
--
-- LATERAL for the reason in batch_terms.sql.
SELECT place, fingerprint, status, body
FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS asked (sub, key, place)
CROSS JOIN LATERAL (
    SELECT fingerprint, status, body
    FROM idempotency_keys
    WHERE event_id = $1 AND sub = asked.sub AND key = asked.key
    OFFSET 0
) AS known
