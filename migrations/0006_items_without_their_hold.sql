-- A hold and its items are written by one statement, nothing else writes them and neither is ever
-- deleted, so that this reference has nothing to find; checking it row by row cost a tenth of all that
-- Postgres does in a rush. The reference to `sectors` stays.
SET LOCAL lock_timeout = '2s';

ALTER TABLE reservation_items
    DROP CONSTRAINT reservation_items_event_id_reservation_id_fkey;
