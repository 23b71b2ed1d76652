-- Writes a hold with its items, at the prices of this moment, and that it is held, for the outbox. One
-- row per item, ascending; no row: a sector is not the event's. $1 event, $2 reservation, $3 sub,
-- $4 sectors, $5 their quantities, $6 the admission's jti, $7 its queue number
WITH priced AS (
    SELECT demand.sector_id, demand.quantity, sectors.price
    FROM unnest($4::uuid[], $5::integer[]) AS demand (sector_id, quantity)
    JOIN sectors ON sectors.event_id = $1 AND sectors.sector_id = demand.sector_id
), hold AS (
    INSERT INTO reservations (
        event_id, reservation_id, sub, state, quantity, total, currency,
        created_at, expires_at, changed_at, admission_jti, queue_number
    )
    SELECT
        event_id, $2, $3, 'held',
        (SELECT sum(quantity) FROM priced),
        (SELECT sum(quantity * price) FROM priced),
        currency,
        date_trunc('milliseconds', now()),
        date_trunc('milliseconds', now()) + make_interval(secs => hold_ttl_seconds),
        now(),
        $6,
        $7
    FROM events
    WHERE event_id = $1 AND (SELECT count(*) FROM priced) = cardinality($4::uuid[])
    RETURNING event_id, reservation_id, sub, state, total, currency, created_at, expires_at
), items AS (
    INSERT INTO reservation_items (event_id, reservation_id, sector_id, quantity, price)
    SELECT hold.event_id, hold.reservation_id, priced.sector_id, priced.quantity, priced.price
    FROM hold CROSS JOIN priced
    ORDER BY priced.sector_id
    RETURNING sector_id, quantity, price
), told AS (
    INSERT INTO reservation_events (event_id, kind, reservation_id, version, expires_at)
    SELECT event_id, 'held', reservation_id, 1, expires_at
    FROM hold
)
SELECT hold.*, items.sector_id, items.quantity, items.price
FROM hold CROSS JOIN items
ORDER BY items.sector_id
