-- Writes a charge of what a reservation costs. No row: somebody else's charge of it is under way or has
-- succeeded; one who is about to write it is waited for. $1 event, $2 payment, $3 reservation,
-- $4 provider, $5 method
--
-- Whoever writes it sends it too: the reconciler leaves it to them for two seconds.
INSERT INTO payments (
    event_id, payment_id, reservation_id, kind, provider, method, amount, currency, next_check_at
)
SELECT event_id, $2, reservation_id, 'charge', $4, $5, total, currency, now() + interval '2 seconds'
FROM reservations
WHERE event_id = $1 AND reservation_id = $3 AND state = 'held' AND now() < expires_at
ON CONFLICT (event_id, reservation_id) WHERE kind = 'charge' AND state <> 'failed' AND NOT surplus
DO NOTHING
