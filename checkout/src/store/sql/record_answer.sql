-- Records an answer. No row: the key was decided by somebody else; one who is about to decide is
-- waited for. $1 event, $2 sub, $3 key, $4 fingerprint, $5 status, $6 body
INSERT INTO idempotency_keys (event_id, sub, key, fingerprint, status, body)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (event_id, sub, key) DO NOTHING
