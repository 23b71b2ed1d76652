-- Forgets webhooks that no provider sends again. $1 event, $2 their age in seconds, $3 how many
DELETE FROM payment_webhooks
WHERE ctid = ANY (ARRAY(
    SELECT ctid
    FROM payment_webhooks
    WHERE event_id = $1 AND received_at < now() - make_interval(secs => $2)
    LIMIT $3
    FOR UPDATE SKIP LOCKED
))
