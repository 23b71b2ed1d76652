-- The admissions that are over with these reservations: not held any more, and no other live hold was
-- made with the same. $1 event, $2 reservations
--
-- Only of people who hold anything yet are the live holds looked through, in one go and without an
-- index of their own, which every reservation would pay for.
WITH ended AS MATERIALIZED (
    SELECT sub, admission_jti, queue_number
    FROM reservations
    WHERE event_id = $1
        AND reservation_id = ANY ($2::uuid[])
        AND state <> 'held'
        AND admission_jti IS NOT NULL
), holders AS MATERIALIZED (
    SELECT sub
    FROM user_totals
    WHERE event_id = $1 AND sub = ANY (ARRAY(SELECT sub FROM ended)) AND held > 0
)
SELECT DISTINCT admission_jti, queue_number
FROM ended
WHERE admission_jti <> ALL (ARRAY(
    SELECT admission_jti
    FROM reservations
    WHERE EXISTS (SELECT FROM holders)
        AND event_id = $1
        AND state = 'held'
        AND now() < expires_at
        AND sub = ANY (ARRAY(SELECT sub FROM holders))
        AND admission_jti IS NOT NULL
))
