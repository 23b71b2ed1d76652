-- Writes holds. $1 event, $2 reservations, $3 subs, $4 quantities, $5 jtis, $6 queue numbers,
-- $7 price of a place, $8 currency, $9 created_at, $10 expires_at
INSERT INTO reservations (
    event_id, reservation_id, sub, state, quantity, total, currency,
    created_at, expires_at, changed_at, admission_jti, queue_number
)
SELECT $1, id, sub, 'held', quantity, quantity * $7::bigint, $8, $9, $10, now(), jti, number
FROM unnest($2::uuid[], $3::text[], $4::integer[], $5::uuid[], $6::bigint[])
    AS made (id, sub, quantity, jti, number)
