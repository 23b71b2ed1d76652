-- What was answered to a key. $1 event, $2 sub, $3 key
SELECT fingerprint, status, body
FROM idempotency_keys
WHERE event_id = $1 AND sub = $2 AND key = $3
