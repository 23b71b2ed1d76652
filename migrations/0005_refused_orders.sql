-- no-transaction
-- What became of an order that is no reservation.
CREATE INDEX CONCURRENTLY idempotency_keys_refused
    ON idempotency_keys (event_id, refused_id) WHERE refused_id IS NOT NULL;
