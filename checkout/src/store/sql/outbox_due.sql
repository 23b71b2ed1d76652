-- What is due, the longest first. $1 event, $2 how many, $3 the kinds that this instance knows
SELECT reservation_id, version, due_at
FROM reservation_events
WHERE event_id = $1 AND due_at <= now() AND kind = ANY ($3::text[])
ORDER BY due_at
LIMIT $2
