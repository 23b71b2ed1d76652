-- A reservation remembers the admission it was made with, so that the waiting room can be told when
-- its session is over. Null in rows from before.
SET LOCAL lock_timeout = '2s';

ALTER TABLE reservations
    -- The `jti` of the admission token.
    ADD COLUMN admission_jti uuid,
    ADD COLUMN queue_number  bigint;
