-- Writes a batch, all but its stock: people's totals, answers, holds with their one item each, and that
-- they are held, for the outbox. Fewer people than given: somebody's limit would be passed. Fewer
-- answers: somebody else has decided one of the keys; who is about to do so is waited for.
--
-- One statement, because each is a round trip during which nothing else is written. The first two are
-- asked for by the SELECT and so run first, in this order; the others wait for nobody.
--
-- $1 event; people, each once: $2 subs, $3 quantities, $4 the limit; answers: $5 subs, $6 keys,
-- $7 fingerprints, $8 statuses, $9 bodies, $10 the order's id if it was refused; holds: $11 ids,
-- $12 subs, $13 quantities, $14 jtis, $15 queue numbers, $16 price of a place, $17 currency,
-- $18 created_at, $19 expires_at, $20 sector
WITH totals AS (
    INSERT INTO user_totals AS theirs (event_id, sub, held)
    SELECT $1, sub, quantity
    FROM unnest($2::text[], $3::integer[]) AS taken (sub, quantity)
    ORDER BY sub
    ON CONFLICT (event_id, sub) DO UPDATE
    SET held = theirs.held + excluded.held
    WHERE theirs.held + theirs.confirmed + excluded.held <= $4
    RETURNING 1
), answers AS (
    INSERT INTO idempotency_keys (event_id, sub, key, fingerprint, status, body, refused_id)
    SELECT $1, sub, key, fingerprint, status, body, refused_id
    FROM unnest($5::text[], $6::text[], $7::bytea[], $8::smallint[], $9::text[], $10::uuid[])
        AS decided (sub, key, fingerprint, status, body, refused_id)
    ORDER BY sub, key
    ON CONFLICT (event_id, sub, key) DO NOTHING
    RETURNING 1
), holds AS (
    INSERT INTO reservations (
        event_id, reservation_id, sub, state, quantity, total, currency,
        created_at, expires_at, changed_at, admission_jti, queue_number
    )
    SELECT $1, id, sub, 'held', quantity, quantity * $16::bigint, $17, $18, $19, now(), jti, number
    FROM unnest($11::uuid[], $12::text[], $13::integer[], $14::uuid[], $15::bigint[])
        AS made (id, sub, quantity, jti, number)
), items AS (
    INSERT INTO reservation_items (event_id, reservation_id, sector_id, quantity, price)
    SELECT $1, id, $20, quantity, $16
    FROM unnest($11::uuid[], $13::integer[]) AS made (id, quantity)
), told AS (
    INSERT INTO reservation_events (event_id, kind, reservation_id, version, expires_at)
    SELECT $1, 'held', id, 1, $19
    FROM unnest($11::uuid[]) AS made (id)
)
SELECT (SELECT count(*) FROM totals) AS people, (SELECT count(*) FROM answers) AS answers
