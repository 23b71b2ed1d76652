-- The event of a reservation. The one query of the sale that does not name its event: the service
-- that confirms knows only the id. $1 reservation
SELECT event_id FROM reservations WHERE reservation_id = $1
