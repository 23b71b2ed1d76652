-- Writes the reservation that a late payment buys: the same places at the price that was paid, confirmed
-- from the beginning, of which the outbox is told. $1 event, $2 its id, $3 the reservation that was paid for
WITH paid AS (
    SELECT * FROM reservations WHERE event_id = $1 AND reservation_id = $3
), bought AS (
    INSERT INTO reservations (
        event_id, reservation_id, sub, state, quantity, total, currency,
        created_at, expires_at, changed_at, recovers
    )
    SELECT
        event_id, $2, sub, 'confirmed', quantity, total, currency,
        date_trunc('milliseconds', now()),
        date_trunc('milliseconds', now()) + interval '1 second',
        now(), reservation_id
    FROM paid
), told AS (
    INSERT INTO reservation_events (event_id, kind, reservation_id, version)
    SELECT event_id, 'confirmed', $2, 1
    FROM paid
)
INSERT INTO reservation_items (event_id, reservation_id, sector_id, quantity, price)
SELECT event_id, $2, sector_id, quantity, price
FROM reservation_items
WHERE event_id = $1 AND reservation_id = $3
ORDER BY sector_id
